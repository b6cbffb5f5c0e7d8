// Padding of images: ConstantPad, ZeroPad, ReflectionPad, ReplicationPad and CircularPad for 1, 2 or 3 dimensions.
#pragma once
#include "../ops/pad.hpp"
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {
namespace detail {

/// {left, right, top, bottom, front, back} from such a list, or from one number for all sides.
TERN_API Shape padding_of(const char* layer, int dims, const Shape& padding);

}  // namespace detail

/// A border of one value.
#define TERN_CONSTANT_PAD_MODULE(Name, dims)                                                                        \
  template <Device D, Element T = float>                                                                            \
  struct Name : Module<D, T> {                                                                                      \
    Shape padding = detail::padding_of(#Name, dims, 0);                                                             \
    double value = 0;                                                                                               \
    Name(const Shape& sizes, double constant) : padding(detail::padding_of(#Name, dims, sizes)), value(constant) {} \
    TERN_FIELDS(Name, padding, value)                                                                               \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return pad(x, padding, PadMode::constant, value); }         \
  };
TERN_CONSTANT_PAD_MODULE(ConstantPad1d, 1)
TERN_CONSTANT_PAD_MODULE(ConstantPad2d, 2)
TERN_CONSTANT_PAD_MODULE(ConstantPad3d, 3)
#undef TERN_CONSTANT_PAD_MODULE

/// A border of zeros or of x's own elements.
#define TERN_PAD_MODULE(Name, dims, mode)                                                        \
  template <Device D, Element T = float>                                                         \
  struct Name : Module<D, T> {                                                                   \
    Shape padding = detail::padding_of(#Name, dims, 0);                                          \
    explicit Name(const Shape& sizes) : padding(detail::padding_of(#Name, dims, sizes)) {}       \
    TERN_FIELDS(Name, padding)                                                                   \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return pad(x, padding, PadMode::mode); } \
  };
TERN_PAD_MODULE(ZeroPad1d, 1, constant)
TERN_PAD_MODULE(ZeroPad2d, 2, constant)
TERN_PAD_MODULE(ZeroPad3d, 3, constant)
TERN_PAD_MODULE(ReflectionPad1d, 1, reflect)
TERN_PAD_MODULE(ReflectionPad2d, 2, reflect)
TERN_PAD_MODULE(ReflectionPad3d, 3, reflect)
TERN_PAD_MODULE(ReplicationPad1d, 1, replicate)
TERN_PAD_MODULE(ReplicationPad2d, 2, replicate)
TERN_PAD_MODULE(ReplicationPad3d, 3, replicate)
TERN_PAD_MODULE(CircularPad1d, 1, circular)
TERN_PAD_MODULE(CircularPad2d, 2, circular)
TERN_PAD_MODULE(CircularPad3d, 3, circular)
#undef TERN_PAD_MODULE

}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "pad.ipp"
#endif
