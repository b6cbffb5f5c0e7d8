// Order, running sums, and elements by number.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void sort_1M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(x.sort().values.impl());
}
BENCHMARK(sort_1M)->UseRealTime();

void median_1M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({1 << 20});
  for (auto _ : state) benchmark::DoNotOptimize(x.median().impl());
}
BENCHMARK(median_1M)->UseRealTime();

void unique_over(benchmark::State& state, const auto& x) {
  const NoGradGuard guard;
  for (auto _ : state) benchmark::DoNotOptimize(unique(x).impl());
}
void unique_1M(benchmark::State& state) { unique_over(state, randn<Cpu>({1 << 20})); }
void unique_1M_i64(benchmark::State& state) { unique_over(state, randint<Cpu>(1000, {1 << 20})); }
BENCHMARK(unique_1M)->UseRealTime();
BENCHMARK(unique_1M_i64)->UseRealTime();

void topk_4096x1000(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 1000});
  for (auto _ : state) benchmark::DoNotOptimize(x.topk(10).values.impl());
}
BENCHMARK(topk_4096x1000)->UseRealTime();

void cumsum_16M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({1 << 24});
  for (auto _ : state) benchmark::DoNotOptimize(x.cumsum(0).impl());
}
BENCHMARK(cumsum_16M)->UseRealTime();

void gather_4M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 1024});
  const auto index = randint<Cpu, Index>(1024, {4096, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(x.gather(1, index).impl());
}
BENCHMARK(gather_4M)->UseRealTime();

void scatter_add_4M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 1024}), source = randn<Cpu>({4096, 1024});
  const auto index = randint<Cpu, Index>(1024, {4096, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(x.scatter_add(1, index, source).impl());
}
BENCHMARK(scatter_add_4M)->UseRealTime();

void index_select_4M(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({65536, 64});
  const auto index = randint<Cpu, Index>(65536, {65536});
  for (auto _ : state) benchmark::DoNotOptimize(x.index_select(0, index).impl());
}
BENCHMARK(index_select_4M)->UseRealTime();

}  // namespace
