// Steps of networks as all rows time them, and the memory that they take.
#pragma once
#include <benchmark/benchmark.h>
#include <fstream>
#include <string>

/// A row of /proc/self/status in bytes: of "VmRSS:", what of the process is in memory, and of "VmHWM:", the most that
/// was.
inline double resident(const std::string& row) {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == row && status >> kilobytes) break;
  return 1024 * kilobytes;
}

inline const double resident_at_start = resident("VmRSS:");

/// Runs f in the benchmark's loop. The counter "memory" is the most bytes that the process has had, less those at its
/// start.
template <class F>
void run_steps(benchmark::State& state, const F& f) {
  for (auto _ : state) f();
  state.counters["memory"] = resident("VmHWM:") - resident_at_start;
}

/// zero_grad, forward, loss, backward, optimiser step.
template <class Net, class Optimiser, class X, class Loss>
void run_training(benchmark::State& state, Net& net, Optimiser& optimiser, const X& x, const Loss& loss) {
  run_steps(state, [&] {
    optimiser.zero_grad();
    loss(net(x)).backward();
    optimiser.step();
  });
}
