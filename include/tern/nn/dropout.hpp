// Dropout.
#pragma once
#include "../ops/dropout.hpp"
#include "module.hpp"

namespace tern::nn {

/// In training each element is zero with probability p, the others are scaled by 1 / (1 - p); in evaluation x itself.
template <Device D, Element T = float>
struct Dropout : Module<D, T> {
  double p = 0.5;

  explicit Dropout(double probability) : p(probability) {
    if (!(p >= 0 && p <= 1)) fail("Dropout", {"the probability must be in [0, 1], not ", p});
  }
  TERN_FIELDS(Dropout, p)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return dropout(x, p, this->is_training()); }
};

}  // namespace tern::nn
