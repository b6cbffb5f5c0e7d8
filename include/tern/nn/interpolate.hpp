// Upsample, UpsamplingNearest2d and UpsamplingBilinear2d: resize images.
#pragma once
#include "../ops/interpolate.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// interpolate with fixed options: Upsample<D>({.scale_factor = 2, .mode = "bilinear"}).
template <Device D, Element T = float>
struct Upsample : ModuleOf<Upsample<D, T>, D, T> {
  InterpolateOptions options;

  explicit Upsample(const InterpolateOptions& chosen) : options(chosen) {}
  explicit Upsample(const tern::detail::Positional<tern::detail::Shape>& size) : Upsample({.size = size}) {}
  Upsample(const tern::detail::Shape& size, const tern::detail::ScaleFactors& scale_factor,
           decltype(InterpolateOptions::mode) mode, tern::detail::Positional<bool> align_corners = false)
      : Upsample({.size = size, .scale_factor = scale_factor, .mode = mode, .align_corners = align_corners}) {}
  TERN_LAYER(Upsample, options)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return interpolate(x, options, here); }
};

struct UpsamplingOptions {
  tern::detail::ByName by_name{};
  tern::detail::Shape size{};
  tern::detail::ScaleFactors scale_factor{};
};

/// Upsample in mode "nearest": UpsamplingNearest2d<D>({.scale_factor = 2}), or UpsamplingNearest2d<D>({6, 8}), the
/// size.
template <Device D, Element T = float>
struct UpsamplingNearest2d : Upsample<D, T> {
  explicit UpsamplingNearest2d(const UpsamplingOptions& chosen)
      : Upsample<D, T>({.size = chosen.size, .scale_factor = chosen.scale_factor}) {}
  explicit UpsamplingNearest2d(const tern::detail::Positional<tern::detail::Shape>& size)
      : UpsamplingNearest2d({.size = size}) {}
  TERN_FIELDS(UpsamplingNearest2d)
};

/// The same in mode "bilinear", with align_corners.
template <Device D, Element T = float>
struct UpsamplingBilinear2d : Upsample<D, T> {
  explicit UpsamplingBilinear2d(const UpsamplingOptions& chosen)
      : Upsample<D, T>({.size = chosen.size,
                        .scale_factor = chosen.scale_factor,
                        .mode = InterpolateMode::bilinear,
                        .align_corners = true}) {}
  explicit UpsamplingBilinear2d(const tern::detail::Positional<tern::detail::Shape>& size)
      : UpsamplingBilinear2d({.size = size}) {}
  TERN_FIELDS(UpsamplingBilinear2d)
};

}}}  // namespace tern::nn
