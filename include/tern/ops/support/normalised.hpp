// Normalisation as differentiable tensor operations, for the gradients of layer_norm, batch_norm and group_norm.
#pragma once
#include "../power.hpp"
#include "../reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// value = (x - mean) factor with factor = 1 / sqrt(variance + eps), over some dimensions.
template <class D, class T>
struct Normalised {
  Tensor<D, T> value, factor;
  Dims dims;

  /// With the mean and the variance of x.
  Normalised(const Tensor<D, T>& x, const Dims& over, double eps) : dims(over) {
    const Tensor<D, T> centred = sub(x, tern::mean(x, dims, true));
    factor = rsqrt(add(tern::mean(square(centred), dims, true), eps));
    value = mul(centred, factor);
  }
  Normalised(const Tensor<D, T>& x, const Tensor<D, T>& mean, const Tensor<D, T>& given_factor, const Dims& over)
      : value(mul(sub(x, mean), given_factor)), factor(given_factor), dims(over) {}

  /// The gradient of x from the value's gradient g, where mean and variance are those of x:
  /// factor (g - mean(g) - value mean(g value)).
  Tensor<D, T> gradient(const Tensor<D, T>& g) const {
    return mul(factor, sub(sub(g, tern::mean(g, dims, true)), mul(value, tern::mean(mul(g, value), dims, true))));
  }
};

}}}  // namespace tern::detail
