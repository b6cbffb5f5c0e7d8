// One pass over memory, with some arithmetic in it.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void gelu_tanh_1M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(gelu(x, "tanh").impl());
}
BENCHMARK(gelu_tanh_1M)->UseRealTime();

void expr5_4M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto expr5 = fuse([](auto x, auto z, auto w) { return sigmoid(x * z + w) * tanh(x - w); });
  const auto x = randn<Cpu>({1 << 22}), z = randn<Cpu>({1 << 22}), w = randn<Cpu>({1 << 22});
  for (auto _ : state) benchmark::DoNotOptimize(expr5(x, z, w).impl());
}
BENCHMARK(expr5_4M)->UseRealTime();

}  // namespace
