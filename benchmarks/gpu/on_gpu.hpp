// How a GPU's rows are run.
#pragma once
#include <benchmark/benchmark.h>
#include <tern/device/cuda/graph.hpp>
#include <tern/tern.hpp>

/// True if there is a GPU; else skips.
inline bool found_gpu(benchmark::State& state) {
  if (!tern::cuda::is_available()) state.SkipWithError(tern::cuda::why_not().c_str());
  return tern::cuda::is_available();
}

/// Copies of 256 MB, elementwise, for a fifth of a second, once in a process: a card at rest has a low clock.
inline void bring_up_clock() {
  using namespace tern;
  [[maybe_unused]] static const bool up = [] {
    const NoGradGuard guard;
    const auto x = zeros<Cuda>({Index(1) << 26});
    const double start = detail::now();
    do {
      for (int i = 0; i < 100 && detail::now() - start < 0.2; ++i) -x;
      cuda::synchronize();
    } while (detail::now() - start < 0.2);
    return true;
  }();
}

/// Runs f in the benchmark's loop without waiting in between, and waits in the end; twice before the loop as well. The
/// counter "memory" is the peak of the loop's device memory, in bytes.
template <class F>
void run_ahead(benchmark::State& state, const F& f) {
  bring_up_clock();
  f();
  f();
  tern::cuda::synchronize();
  tern::cuda::reset_peak_memory_stats();
  auto left = state.max_iterations;
  for (auto _ : state) {
    f();
    if (--left == 0) tern::cuda::synchronize();
  }
  state.counters["memory"] = double(tern::cuda::memory_stats().peak);
}

/// The same with f captured once and replayed.
template <class F>
void run_captured(benchmark::State& state, const F& f) {
  f();
  f();
  tern::cuda::Graph graph;
  graph.capture(f);
  run_ahead(state, [&] { graph.replay(); });
}

/// A training step as all rows time it.
template <class Net, class Optimiser, class X, class Loss>
auto training_step(Net& net, Optimiser& optimiser, const X& x, const Loss& loss) {
  return [&] {
    optimiser.zero_grad();
    loss(net(x)).backward();
    optimiser.step();
  };
}

/// Training steps, plain or captured.
template <class Net, class Optimiser, class X, class Loss>
void run_training(benchmark::State& state, bool captured, Net& net, Optimiser& optimiser, const X& x,
                  const Loss& loss) {
  const auto step = training_step(net, optimiser, x, loss);
  captured ? run_captured(state, step) : run_ahead(state, step);
}

/// A row that run(state) times: products rounded to TF32, candidates of kernels timed once.
template <class Run>
void add_row(const std::string& name, int iterations, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run](benchmark::State& state) {
                                 if (!found_gpu(state)) return;
                                 tern::cuda::allow_tf32_matmul(true);
                                 tern::cuda::benchmark(true);
                                 run(state);
                               })
      ->Iterations(iterations)
      ->UseRealTime();
}
