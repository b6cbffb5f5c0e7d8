// Lesson 3: where tensors live: what compiles, what moves, what waits.
#include <tern/profile/ledger.hpp>
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

/// One step of descent towards w with x w = y. Nothing here names a device, so nothing here can copy between two.
template <Device D>
void step(const Tensor<D>& w, const Tensor<D>& x, const Tensor<D>& y) {
  w.set_grad({});
  mse_loss(matmul(x, w), y).backward();
  const NoGradGuard no_grad;
  w.sub_(w.grad() * 0.1);
}

/// What belongs to a GPU alone: copies that run beside other work.
void copy_meanwhile(const Tensor<Cpu>& numbers) {
  // The copy is under way when cuda_async() returns. Its type, Pending, holds the source until the copy is done, and
  // gives the result by wait() alone: it cannot be read too early.
  auto pending = numbers.pin_memory().cuda_async();
  const auto other = randn<Cuda>({64, 64}).square().mean();  // work that runs meanwhile
  const Tensor<Cuda> there = pending.wait();

  // Each number that is looked at is a copy to the host, and a wait for it.
  ledger::expect_transfers({.d2h = 2, .waits = 2}, [&] { std::printf("%g, %g\n", there.sum().item(), other.item()); });
}

template <Device D>
bool lesson(D device) {
  manual_seed(1);
  const auto host_x = randn<Cpu>({256, 4});
  const auto host_y = matmul(host_x, tensor<Cpu>({1, -2, 3, -4}).unsqueeze(1));

  // What compiles. The device is part of the type: where D is Cuda, matmul(host_x, w) is refused by the compiler, whose
  // first line says error_operands_on_different_devices_move_one_with_cuda_or_cpu.
  const Tensor<D> x = host_x.to(device), y = host_y.to(device);

  // What moves: .to(), .cuda() and .cpu(), and nothing else. expect_transfers says what a piece of code may cause; that
  // these steps copied or waited would be an Error.
  auto w = zeros<D>({4, 1});
  w.requires_grad_();
  ledger::expect_transfers({}, [&] {
    for (int i = 0; i < 50; ++i) step(w, x, y);
  });

  // What waits: whoever wants to see a result.
  std::printf("fitted on %s:\n%s\n", DeviceTraits<D>::name, to_string(w.detach().cpu()).c_str());
  if constexpr (std::is_same_v<D, Cuda>) copy_meanwhile(host_y);
  return std::is_same_v<D, Cuda>;
}

int main() {
  if (!cuda::is_available()) std::printf("no GPU: %s\nso the lesson is on the CPU.\n", cuda::why_not().c_str());

  // The ledger lists every copy and every wait by the source line that asked for it.
  ledger::start();
  const bool copied = with_device("auto", [](auto device) { return lesson(device); });
  if (copied) std::printf("%s", ledger::report().c_str());
  else std::printf("Everything was in host memory: nothing was copied, nothing waited.\n");
  ledger::stop();
}
