// Dropout (Srivastava and others: "Dropout: a simple way to prevent neural networks from overfitting", 2014). Which
// elements fall follows from seed, stream and position, so the backward pass works it out again: as fast as reading a
// mask, and nothing is kept.
#pragma once
#include "random.hpp"

namespace tern {
namespace detail {

/// Linear in x, so its gradient is the same op, and the gradient of that.
template <class D, class T>
Tensor<D, T> dropout_by(const OpName& op, const Tensor<D, T>& x, double p, RandomState state) {
  const Tensor<D, T> dense = contiguous(x.detach()), y = empty<D, T>(x.shape(), x.device());
  backend::dropout<T>(D{}, state, p, *y.impl(), *dense.impl());
  record(op, y, wrt(x, [p, state](const Tensor<D, T>& g) { return dropout_by({"dropout", {}}, g, p, state); }));
  return y;
}

}  // namespace detail

/// In training each element is zero with probability p, taken in steps of 1/65536, and the others are scaled by 1 / (1
/// - p); else x itself.
template <Device D, Element T>
Tensor<D, T> dropout(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  static_assert(is_floating_v<T>);
  x.checked("dropout");
  if (!(p >= 0 && p <= 1)) fail("dropout", {"the probability must be in [0, 1], not ", p});
  return training && p > 0 ? detail::dropout_by({"dropout", here}, x, p, next_random()) : x;
}

}  // namespace tern
