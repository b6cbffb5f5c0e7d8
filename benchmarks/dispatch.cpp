// What an operation costs around its kernel: tensors of one element, and a network so small that nothing else counts.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void add1(benchmark::State& state) {
  const NoGradGuard guard;
  const auto a = ones<Cpu>({1}), b = ones<Cpu>({1});
  for (auto _ : state) benchmark::DoNotOptimize((a + b).impl());
}
BENCHMARK(add1);

void add1_grad(benchmark::State& state) {
  const auto a = ones<Cpu>({1}).requires_grad_(), b = ones<Cpu>({1});
  for (auto _ : state) benchmark::DoNotOptimize((a + b).impl());
}
BENCHMARK(add1_grad);

void mul_backward1(benchmark::State& state) {
  const auto a = ones<Cpu>({1}).requires_grad_(), b = ones<Cpu>({1});
  for (auto _ : state) {
    (a * b).backward();
    a.set_grad({});
  }
}
BENCHMARK(mul_backward1);

struct Tiny : nn::Module<Cpu> {
  nn::Linear<Cpu> hidden{10, 32}, out{32, 1};
  TERN_FIELDS(Tiny, hidden, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) { return out(relu(hidden(x))); }
};

void mlp_tiny(benchmark::State& state) {
  Tiny net;
  optim::SGD sgd(net.parameters(), {.lr = 0.01});
  const auto x = randn<Cpu>({1, 10}), y = randn<Cpu>({1, 1});
  for (auto _ : state) {
    sgd.zero_grad();
    mse_loss(net(x), y).backward();
    sgd.step();
  }
}
BENCHMARK(mlp_tiny);

}  // namespace
