// Sums, and what is made of sums: softmax and layer normalisation.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void softmax_4096x1000(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 1000});
  for (auto _ : state) benchmark::DoNotOptimize(softmax(x, 1).impl());
}
BENCHMARK(softmax_4096x1000)->UseRealTime();

void layernorm_4096x1024(benchmark::State& state) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 1024}), weight = ones<Cpu>({1024}), bias = zeros<Cpu>({1024});
  for (auto _ : state) benchmark::DoNotOptimize(layer_norm(x, {1024}, weight, bias).impl());
}
BENCHMARK(layernorm_4096x1024)->UseRealTime();

void sum_over(benchmark::State& state, detail::Dims dims) {
  const NoGradGuard guard;
  const auto x = randn<Cpu>({4096, 4096});
  for (auto _ : state) benchmark::DoNotOptimize(x.sum(dims).impl());
}

void sum_all(benchmark::State& state) { sum_over(state, {}); }
void sum_dim0(benchmark::State& state) { sum_over(state, {0}); }
void sum_dim1(benchmark::State& state) { sum_over(state, {1}); }
BENCHMARK(sum_all)->UseRealTime();
BENCHMARK(sum_dim0)->UseRealTime();
BENCHMARK(sum_dim1)->UseRealTime();

}  // namespace
