// RMSNorm.
#pragma once
#include "../core/options.hpp"
#include "../ops/rms_norm.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct RMSNormOptions {
  tern::detail::ByName by_name{};
  std::optional<double> eps{};  // default: the element type's machine epsilon
  bool elementwise_affine = true;
};

/// x / √(mean of x² + eps) · weight over the last dimensions, whose shape is normalized_shape (Zhang, Sennrich: "Root
/// mean square layer normalization", 2019). weight starts as ones.
template <Device D, Element T = float>
struct RMSNorm : ModuleOf<RMSNorm<D, T>, D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  tern::detail::Shape normalized_shape;
  std::optional<double> eps;
  Parameter<D, T> weight;

  RMSNorm(tern::detail::Shape shape, RMSNormOptions options = {}, CallSite here = {})
      : normalized_shape(shape), eps(options.eps) {
    const CallScope scope({"RMSNorm", here});
    if (options.elementwise_affine) weight = ones<D, T>(shape);
  }
  template <std::size_t n>
  explicit RMSNorm(const Index (&shape)[n], CallSite here = {})
      : RMSNorm(tern::detail::Shape(shape, int(n), here), {}, here) {}
  RMSNorm(const tern::detail::Shape& shape, tern::detail::RealNumber epsilon,
          tern::detail::Positional<bool> elementwise_affine = true, CallSite here = {})
      : RMSNorm(shape, {.eps = epsilon, .elementwise_affine = elementwise_affine}, here) {}
  TERN_LAYER(RMSNorm, normalized_shape, eps, weight)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return rms_norm(x, normalized_shape, weight.promoted(), eps, here);
  }
};

}}}  // namespace tern::nn
