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
  TERN_FIELDS(Upsample, options)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return interpolate(x, options); }
};

}}}  // namespace tern::nn
