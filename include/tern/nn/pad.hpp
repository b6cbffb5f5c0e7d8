// Padding of images: ConstantPad, ZeroPad, ReflectionPad, ReplicationPad and CircularPad for 1, 2 or 3 dimensions.
#pragma once
#include "../ops/pad.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

/// {left, right, top, bottom, front, back} from such a list, or from one number for all sides.
[[gnu::noinline, gnu::cold]] inline tern::detail::Shape padding_of(const CallSite& layer, int dims,
                                                                   const tern::detail::Shape& padding) {
  if (padding.n != 1 && padding.n != 2 * dims)
    Error::fail(layer, {"one size or ", Index(2 * dims), " are needed, not ", padding});
  tern::detail::Shape all;
  for (int i = 0; i < 2 * dims; ++i) all.push_back(padding[padding.n == 1 ? 0 : i]);
  return all;
}

inline constexpr const char* constant_pad_names[] = {"ConstantPad1d", "ConstantPad2d", "ConstantPad3d"};
// Indexed by PadMode.
inline constexpr const char* pad_names[][3] = {{"ZeroPad1d", "ZeroPad2d", "ZeroPad3d"},
                                               {"ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"},
                                               {"ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"},
                                               {"CircularPad1d", "CircularPad2d", "CircularPad3d"}};

}  // namespace detail

/// Padding by one value over `dims` dimensions: ConstantPad1d, ConstantPad2d or ConstantPad3d.
template <int dims, Device D, Element T = float>
struct ConstantPadNd : ModuleOf<ConstantPadNd<dims, D, T>, D, T> {
  tern::detail::Shape padding = detail::padding_of({ConstantPadNd::type_name(), CallSite::unknown}, dims, 0);
  double value = 0;
  ConstantPadNd(const tern::detail::Shape& sizes, tern::detail::RealNumber constant, CallSite here = {})
      : padding(detail::padding_of({ConstantPadNd::type_name(), here}, dims, sizes)), value(constant) {}
  TERN_LAYER_AS(ConstantPadNd, detail::constant_pad_names[dims - 1], padding, value)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return pad(x, padding, PadMode::constant, value, here);
  }
};

/// Pads [.., L] by {left, right} elements.
template <Device D, Element T = float>
using ConstantPad1d = ConstantPadNd<1, D, T>;

/// Pads [.., H, W] by {left, right, top, bottom} elements.
template <Device D, Element T = float>
using ConstantPad2d = ConstantPadNd<2, D, T>;

/// Pads [.., D, H, W] by {left, right, top, bottom, front, back} elements.
template <Device D, Element T = float>
using ConstantPad3d = ConstantPadNd<3, D, T>;

/// Padding by zeros (PadMode::constant) or by x's own elements over `dims` dimensions, by as many elements as in
/// ConstantPad1d to 3d.
template <int dims, PadMode mode, Device D, Element T = float>
struct PadNd : ModuleOf<PadNd<dims, mode, D, T>, D, T> {
  tern::detail::Shape padding = detail::padding_of({PadNd::type_name(), CallSite::unknown}, dims, 0);
  explicit PadNd(const tern::detail::Shape& sizes, CallSite here = {})
      : padding(detail::padding_of({PadNd::type_name(), here}, dims, sizes)) {}
  TERN_LAYER_AS(PadNd, detail::pad_names[int(mode)][dims - 1], padding)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return pad(x, padding, mode, 0, here); }
};

namespace detail {

template <int dims, PadMode mode, class D0, class T0, class D, class T>
struct Rebind<PadNd<dims, mode, D0, T0>, D, T> {
  using type = PadNd<dims, mode, D, T>;
};

}  // namespace detail

/// Padding by zeros.
template <Device D, Element T = float>
using ZeroPad1d = PadNd<1, PadMode::constant, D, T>;
template <Device D, Element T = float>
using ZeroPad2d = PadNd<2, PadMode::constant, D, T>;
template <Device D, Element T = float>
using ZeroPad3d = PadNd<3, PadMode::constant, D, T>;

/// Padding by the elements mirrored at the edge, without the edge itself.
template <Device D, Element T = float>
using ReflectionPad1d = PadNd<1, PadMode::reflect, D, T>;
template <Device D, Element T = float>
using ReflectionPad2d = PadNd<2, PadMode::reflect, D, T>;
template <Device D, Element T = float>
using ReflectionPad3d = PadNd<3, PadMode::reflect, D, T>;

/// Padding by the elements at the edge.
template <Device D, Element T = float>
using ReplicationPad1d = PadNd<1, PadMode::replicate, D, T>;
template <Device D, Element T = float>
using ReplicationPad2d = PadNd<2, PadMode::replicate, D, T>;
template <Device D, Element T = float>
using ReplicationPad3d = PadNd<3, PadMode::replicate, D, T>;

/// Padding by the elements of the other side.
template <Device D, Element T = float>
using CircularPad1d = PadNd<1, PadMode::circular, D, T>;
template <Device D, Element T = float>
using CircularPad2d = PadNd<2, PadMode::circular, D, T>;
template <Device D, Element T = float>
using CircularPad3d = PadNd<3, PadMode::circular, D, T>;

}}}  // namespace tern::nn
