// Training steps of dense networks: zero_grad, forward, loss, backward, optimiser step, on random data in memory.
#include <tern/tern.hpp>

#include "steps.hpp"

namespace {

using namespace tern;

void mlp_small(benchmark::State& state) {
  nn::Sequential net(nn::Linear<Cpu>(784, 128), nn::ReLU<Cpu>(), nn::Linear<Cpu>(128, 10));
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto x = randn<Cpu>({64, 784});
  const auto labels = randint<Cpu>(0, 10, {64});
  run_training(state, net, sgd, x, [&](const auto& logits) { return cross_entropy(logits, labels); });
}
BENCHMARK(mlp_small)->UseRealTime();

void mnist_mlp(benchmark::State& state) {
  nn::Sequential net(nn::Linear<Cpu>(784, 512), nn::ReLU<Cpu>(), nn::Dropout<Cpu>(0.2), nn::Linear<Cpu>(512, 512),
                     nn::ReLU<Cpu>(), nn::Dropout<Cpu>(0.2), nn::Linear<Cpu>(512, 10));
  optim::RMSprop rmsprop(net.parameters(), {.lr = 1e-3});
  const auto x = randn<Cpu>({128, 784});
  const auto labels = randint<Cpu>(0, 10, {128});
  run_training(state, net, rmsprop, x, [&](const auto& logits) { return cross_entropy(logits, labels); });
}
BENCHMARK(mnist_mlp)->UseRealTime();

}  // namespace
