// One rank of the checks that tests/mpi/run starts: `program CASE DEVICE RANKS_SHARING_MEMORY`. On cuda each process
// has an emulated machine of its own.
#include "distributed/parallel_cases.hpp"
#include "support/emulator.hpp"

#include <csignal>
#include <unistd.h>

#include <tern/distributed/mpi.hpp>
#include <tern/profile/ledger.hpp>

using namespace tern;
using distributed::Communicator;

namespace {

/// The differences to the losses of one rank on the CPU, printed by the first rank. It gives the others its parameters.
template <Device D, class T, class Make>
void compare(const Communicator& c, const char* name, const Make& make, const detail::Shape& sample, double lr) {
  manual_seed(5);
  auto alone = make.template operator()<Cpu>();
  manual_seed(5 + std::uint64_t(c.rank()));
  auto together = make.template operator()<D>();
  if (c.rank() == 0) together.load_state_dict(alone.state_dict());
  const auto many = tern_test::losses_of<T, D>(c, [&] { return std::move(together); }, sample, lr);
  const auto one = tern_test::losses_of<T>(c.split(c.rank()), [&] { return std::move(alone); }, sample, lr);
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(many[i] - one[i]) / one[i]);
  if (c.rank() == 0) std::printf("%s %s %.3g\n", name, tern::detail::name_of(dtype_of<T>), worst);
}

template <Device D, class T>
void parallel(const Communicator& c) {
  compare<D, T>(c, "mlp", []<Device E>() { return tern_test::SmallMlp<E, T>(); }, {12}, 0.05);
  compare<D, T>(c, "lstm", []<Device E>() { return tern_test::SmallLstm<E, T>(); }, {5, 6}, 0.05);
  if constexpr (HostDevice<D>)
    compare<D, T>(
        c, "resnet20", []<Device E>() { return models::resnet20<E, T>(); }, {3, 8, 8},
        std::is_same_v<T, double> ? 0.01 : 1e-5);
}

/// A sum of two ranks' elements, and a result of all_gather, with more bytes than an int counts.
void large(const Communicator& c) {
  const auto element = [](Index i, int rank) {
    return std::uint8_t((std::uint64_t(i) * 0x9E3779B97F4A7C15u >> 57) + std::uint64_t(rank));
  };
  const auto own = [&](Index n) {
    const Tensor<Cpu, std::uint8_t> x = empty<Cpu, std::uint8_t>({n});
    for (Index i = 0; i < n; ++i) x.data()[i] = element(i, c.rank());
    return x;
  };
  const Index n = (Index(1) << 31) + 4097, part = n / 2 + 1;
  {
    const auto sum = distributed::all_reduce(own(n), c);
    for (Index i = 0; i < n; ++i) tern_test::expect(sum.data()[i] == element(i, 0) + element(i, 1), "a large sum");
  }
  const auto all = distributed::all_gather(own(part), c);
  for (Index i = 0; i < 2 * part; ++i)
    tern_test::expect(all.data()[i] == element(i % part, int(i / part)), "a large gathering");
}

/// The first rank prints which part of the communication of resnet50's steps is hidden, of all ranks together.
void hidden(const Communicator& c) {
  distributed::DistributedDataParallel net(models::resnet50<Cpu>(), c);
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
  const auto x = tern_test::samples<float>(c.rank(), {4, 3, 128, 128});
  for (int step = 0; step < 4; ++step) {
    if (step == 2) ledger::start();  // the first passes allocate, and put the gradients into buckets
    sgd.zero_grad();
    const auto loss = net(x).square().mean();
    loss.backward();
    sgd.step();
  }
  const ledger::Communication own = ledger::communication();
  ledger::stop();
  const auto all = distributed::all_reduce(tensor<Cpu, double>({own.waited, own.seconds}), c);
  if (c.rank() == 0) std::printf("hidden %.3f\n", 1 - all.data()[0] / all.data()[1]);
}

/// Rank 1 does not come to the third sum. The others name it.
template <Device D>
void fault(const Communicator& c, const std::string& kind) {
  c.set_timeout(1);
  const auto x = ones<D>({100000});
  for (int call = 0;; ++call) {
    if (call == 2 && c.rank() == 1) {
      if (kind == "throws") throw std::runtime_error("rank 1: its own trouble");
      if (kind == "killed") std::raise(SIGKILL);
      if (kind == "leaves") return;
      if (kind == "late") usleep(3'000'000);
    }
    tern_test::expect(distributed::all_reduce(x, c)[0].item() == 2, "a sum");
  }
}

template <Device D>
void check(const Communicator& c, const std::string& name) {
  if (name == "collectives") {
    tern_test::check_collectives<D>(c);
    tern_test::check_shared(c);
    if (c.rank() == 0) std::printf("collectives, %d ranks, %d share memory\n", c.size(), c.local_size());
  } else if (name == "parallel") {
    parallel<D, double>(c);
    if constexpr (HostDevice<D>) parallel<D, float>(c);
  } else if (name == "large") {
    large(c);
    if (c.rank() == 0) std::printf("large, %d share memory\n", c.local_size());
  } else if (name == "hidden") {
    hidden(c);
  } else {
    fault<D>(c, name);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  tern_test::use_emulated_cuda();
  const distributed::Mpi mpi(argc, argv, {.ranks_sharing_memory = argc > 3 ? std::atoi(argv[3]) : 0});
  const std::string name = argc > 1 ? argv[1] : "", device = argc > 2 ? argv[2] : "";
  if (device == "cuda") check<Cuda>(mpi.world(), name);
  else check<Cpu>(mpi.world(), name);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
