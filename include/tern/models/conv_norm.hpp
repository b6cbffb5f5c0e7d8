// A convolution without bias, followed by batch normalisation: the building block of most networks for images.
#pragma once
#include "../nn/fusion.hpp"
#include "../nn/init.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// A convolution without bias. Its weights start normal, scaled by fan_out (He et al., 2015).
template <Device D, Element T>
nn::Conv2d<D, T> conv(Index in, Index out, tern::detail::Dims kernel, nn::ConvLayerOptions options = {}) {
  options.bias = false;
  nn::Conv2d<D, T> layer(in, out, kernel, options);
  nn::init::kaiming_normal_(layer.weight, {.mode = "fan_out"});
  return layer;
}

/// relu(norm(conv(x))), with the names of torchvision's Inception networks.
template <Device D, Element T = float>
struct ConvNorm : nn::Module<D, T> {
  nn::Conv2d<D, T> conv;
  nn::BatchNorm2d<D, T> bn;

  ConvNorm(Index in, Index out, tern::detail::Dims kernel, nn::ConvLayerOptions options)
      : conv(models::conv<D, T>(in, out, kernel, options)), bn(out, {.eps = 1e-3}) {}
  TERN_FIELDS(ConvNorm, conv, bn)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(conv, bn);
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) { return nn::conv_bn_relu(conv, bn, x); }
};

}}}  // namespace tern::models
