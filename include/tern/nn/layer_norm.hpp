// LayerNorm.
#pragma once
#include "../core/options.hpp"
#include "../ops/layer_norm.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct LayerNormOptions {
  tern::detail::ByName by_name{};
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
};

/// (x - mean) / √(var + eps) · weight + bias over the last dimensions, whose shape is normalized_shape (Ba, Kiros,
/// Hinton: "Layer normalization", 2016). weight starts as ones, bias as zeros.
template <Device D, Element T = float>
struct LayerNorm : ModuleOf<LayerNorm<D, T>, D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  tern::detail::Shape normalized_shape;
  double eps = 1e-5;
  Parameter<D, T> weight, bias;

  LayerNorm(tern::detail::Shape shape, LayerNormOptions options = {}, CallSite here = {})
      : normalized_shape(shape), eps(options.eps) {
    const CallScope scope({"LayerNorm", here});
    if (!options.elementwise_affine) return;
    weight = ones<D, T>(shape);
    if (options.bias) bias = zeros<D, T>(shape);
  }
  template <std::size_t n>
  explicit LayerNorm(const Index (&shape)[n], CallSite here = {})
      : LayerNorm(tern::detail::Shape(shape, int(n), here), {}, here) {}
  LayerNorm(const tern::detail::Shape& shape, tern::detail::RealNumber epsilon,
            tern::detail::Positional<bool> elementwise_affine = true, tern::detail::Positional<bool> has_bias = true,
            CallSite here = {})
      : LayerNorm(shape, {.eps = epsilon, .elementwise_affine = elementwise_affine, .bias = has_bias}, here) {}
  TERN_LAYER(LayerNorm, normalized_shape, eps, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    return layer_norm(x, normalized_shape, weight.promoted(), bias.promoted(), eps);
  }
};

}}}  // namespace tern::nn
