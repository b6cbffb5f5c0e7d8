// A network trained on MNIST on both devices: the same losses, up to rounding.
#include "support/tensors.hpp"

#include <tern/data/loader.hpp>
#include <tern/data/mnist.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>

namespace train_cpu_and_cuda {
using namespace tern_test;

namespace {

/// The network of `mnist --model mlp_small`: the mean loss of each batch of two epochs, and of all images after them.
template <Device D>
std::vector<double> train_on(const data::Mnist& set) {
  manual_seed(1);
  auto net = nn::Sequential(nn::Flatten<D>(1), nn::Linear<D>(784, 128), nn::ReLU<D>(), nn::Linear<D>(128, 10));
  optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  std::vector<Tensor<D>> losses;
  auto batches = data::loader<D>(set, {.batch_size = 128, .shuffle = true, .seed = 1});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& [x, y] : batches) {
      const auto loss = cross_entropy(net(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      losses.push_back(loss.detach());
    }
  const NoGradGuard off;
  auto total = zeros<D>({});
  for (auto& [x, y] : data::loader<D>(set, {.batch_size = 1000})) total += cross_entropy(net(x), y) / 6.0;
  losses.push_back(total);
  return values_of(stack(losses));
}

}  // namespace

TEST_CASE("a network trained on MNIST on Cpu and on Cuda has the same losses", "[cuda]") {
  NEED_TEST_DATA(folder, "data/mnist");
  if (!cuda::is_available()) SKIP_TEST(cuda::why_not());
  const auto all = data::Mnist::load(folder);
  const data::Mnist set(all.images().narrow(0, 0, 6000), all.labels().narrow(0, 0, 6000));
  const auto on_cpu = train_on<Cpu>(set), on_cuda = train_on<Cuda>(set);
  REQUIRE(on_cpu.size() == 95);
  CHECK(on_cpu.back() < 0.3);  // it has learned
  // Sums are made in other orders: by the last step losses are 6e-7 apart. A lost step or a wrong batch is 1e-2.
  check_close(on_cuda, on_cpu, 1e-5, 0);
}

}  // namespace train_cpu_and_cuda
