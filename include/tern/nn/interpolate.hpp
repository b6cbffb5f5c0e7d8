// Upsample: resizes images.
#pragma once
#include "../ops/interpolate.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// interpolate with fixed options: Upsample<D>({.scale_factor = 2, .mode = "bilinear"}).
template <Device D, Element T = float>
struct Upsample : Module<D, T> {
  InterpolateOptions options;

  explicit Upsample(const InterpolateOptions& chosen) : options(chosen) {}
  explicit Upsample(const tern::detail::Positional<tern::detail::Shape>& size) : Upsample({.size = size}) {}
  Upsample(const tern::detail::Shape& size, const tern::detail::ScaleFactors& scale_factor,
           decltype(InterpolateOptions::mode) mode, tern::detail::Positional<bool> align_corners = false)
      : Upsample({.size = size, .scale_factor = scale_factor, .mode = mode, .align_corners = align_corners}) {}
  TERN_FIELDS(Upsample, options)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return interpolate(x, options); }
};

}}}  // namespace tern::nn
