// Dropout (Srivastava and others: "Dropout: a simple way to prevent neural networks from overfitting", 2014).
#pragma once
#include "random.hpp"

namespace tern {

/// In training each element is zero with probability p and the others are scaled by 1 / (1 - p); else x itself.
template <Device D, Element T>
Tensor<D, T> dropout(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  static_assert(is_floating_v<T>);
  x.checked("dropout");
  if (!(p >= 0 && p <= 1)) fail("dropout", {"the probability must be in [0, 1], not ", p});
  if (!training || p == 0) return x;
  // The mask holds the factor of each element, so that backward is one product, differentiable again.
  Tensor<D, T> mask = empty<D, T>(x.shape());
  backend::bernoulli<T>(D{}, next_random(), 1 - p, p < 1 ? 1 / (1 - p) : 0, *mask.impl());
  return mul(x, mask, here);
}

}  // namespace tern
