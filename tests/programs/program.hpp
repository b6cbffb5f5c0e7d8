// What the small programs share: the training loop.
#pragma once
#include "support/tensors.hpp"

namespace tern_test {

/// The losses before each step.
template <class Optimizer, class F>
std::vector<double> train(Optimizer& optimizer, int steps, const F& loss_of) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const auto loss = loss_of();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

}  // namespace tern_test
