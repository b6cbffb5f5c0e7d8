// Copies between layouts.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void transpose_copy(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 4096});
  for (auto _ : state) benchmark::DoNotOptimize(x.t().contiguous().impl());
}
BENCHMARK(transpose_copy)->UseRealTime();

void cat_channels(benchmark::State& state) {
  const NoGradGuard guard;
  std::vector<Tensor<Cpu>> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(randn<Cpu>({64, 64, 28, 28}));
  for (auto _ : state) benchmark::DoNotOptimize(cat(parts, 1).impl());
}
BENCHMARK(cat_channels)->UseRealTime();

}  // namespace
