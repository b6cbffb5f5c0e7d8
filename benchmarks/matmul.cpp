// Products of square matrices.
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

namespace {

using namespace tern;

void matmul_square(benchmark::State& state, Index n) {
  const NoGradGuard guard;
  const auto a = randn<Cpu>({n, n}), b = randn<Cpu>({n, n});
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b).impl());
  state.counters["FLOP/s"] =
      benchmark::Counter(2. * static_cast<double>(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}

void matmul128(benchmark::State& state) { matmul_square(state, 128); }
void matmul200(benchmark::State& state) { matmul_square(state, 200); }
void matmul512(benchmark::State& state) { matmul_square(state, 512); }
void matmul1024(benchmark::State& state) { matmul_square(state, 1024); }
void matmul2048(benchmark::State& state) { matmul_square(state, 2048); }
BENCHMARK(matmul128)->UseRealTime();
BENCHMARK(matmul200)->UseRealTime();
BENCHMARK(matmul512)->UseRealTime();
BENCHMARK(matmul1024)->UseRealTime();
BENCHMARK(matmul2048)->UseRealTime();

}  // namespace
