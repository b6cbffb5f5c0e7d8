// RMSNorm.
#pragma once
#include "../ops/rms_norm.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct RMSNormOptions {
  std::optional<double> eps{};  // default: the element type's machine epsilon
  bool elementwise_affine = true;
};

/// x / √(mean of x² + eps) · weight over the last dimensions, whose shape is normalized_shape (Zhang, Sennrich: "Root
/// mean square layer normalization", 2019). weight starts as ones.
template <Device D, Element T = float>
struct RMSNorm : Module<D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  tern::detail::Shape normalized_shape;
  std::optional<double> eps;
  Parameter<D, T> weight;

  RMSNorm(tern::detail::Shape shape, RMSNormOptions options = {}, CallSite here = {})
      : normalized_shape(shape), eps(options.eps) {
    const CallScope scope({"RMSNorm", here});
    if (options.elementwise_affine) weight = ones<D, T>(shape);
  }
  TERN_FIELDS(RMSNorm, normalized_shape, eps, weight)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return rms_norm(x, normalized_shape, weight.promoted(), eps); }
};

}}}  // namespace tern::nn
