// How a GPU's rows are run.
#pragma once
#include <benchmark/benchmark.h>
#include <tern/tern.hpp>

/// Runs f in the benchmark's loop without waiting in between, and waits in the end; once before the loop as well.
template <class F>
void run_ahead(benchmark::State& state, const F& f) {
  f();
  tern::cuda::synchronize();
  auto left = state.max_iterations;
  for (auto _ : state) {
    f();
    if (--left == 0) tern::cuda::synchronize();
  }
}

/// True if there is a GPU; else skips.
inline bool found_gpu(benchmark::State& state) {
  if (!tern::cuda::is_available()) state.SkipWithError(tern::cuda::why_not().c_str());
  return tern::cuda::is_available();
}
