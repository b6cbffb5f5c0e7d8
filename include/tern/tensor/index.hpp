// Positions in a tensor, and the index types of x.index({...}).
#pragma once
#include "../device/device.hpp"

namespace tern::inline TERN_BUILD {

template <Device D, Element T = float>
class Tensor;

/// start:stop:step, as in Python; negative positions count from the end. Without bounds: everything.
struct Slice {
  static constexpr Index open = INT64_MAX;
  Index start = 0, stop = open, step = 1;
  constexpr Slice() {}
  constexpr Slice(Index first, Index end = open, Index by = 1) : start(first), stop(end), step(by) {}
};
/// A new dimension of size 1.
struct NoneType {};
inline constexpr NoneType None{};
/// Stands for as many full slices as are missing.
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};

namespace detail {

/// The offset of the element from the first one. Error unless the index names every dimension and lies inside.
TERN_API Index element_offset(const Array& a, const Shape& index);

}  // namespace detail
}  // namespace tern

#ifndef TERN_COMPILED
#include "index.ipp"
#endif
