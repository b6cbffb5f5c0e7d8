// A training step as all rows time it.
#pragma once
#include <benchmark/benchmark.h>

/// zero_grad, forward, loss, backward, optimiser step.
template <class Net, class Optimiser, class X, class Loss>
void run_steps(benchmark::State& state, Net& net, Optimiser& optimiser, const X& x, const Loss& loss) {
  for (auto _ : state) {
    optimiser.zero_grad();
    loss(net(x)).backward();
    optimiser.step();
  }
}
