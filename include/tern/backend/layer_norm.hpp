// The contract: layer normalisation. All arrays are dense. x, y, dx and g consist of rows that have as many elements as
// weight, of type T. weight, bias and their gradients are of type compute_t<T>.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: for each row its mean and scale = 1 / sqrt(variance + eps), both of type compute_t<T>, and y = (x - mean)
/// scale weight + bias.
struct LayerNorm {
  const Array& y;
  const Array& mean;
  const Array& scale;
  const Array& x;
  const Array& weight;
  const Array& bias;
  double eps;
};

/// run<D, T>: the gradients from y's gradient g. Each of the three gradients may be null.
struct LayerNormGradient {
  const Array* dx;
  const Array* dweight;
  const Array* dbias;
  const Array& g;
  const Array& mean;
  const Array& scale;
  const Array& x;
  const Array& weight;
};

}}}  // namespace tern::detail::backend
