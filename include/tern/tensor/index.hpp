// Positions in a tensor, and what x.index({...}) accepts.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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
/// As many full slices as are missing.
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};

namespace detail {

/// The element's position relative to the first. Error unless index names every dimension and lies inside.
[[gnu::noinline]] inline Index element_offset(const Array& a, const Shape& index) {
  if (index.n != a.ndim) fail("element", {"index ", index, " does not name every dimension of ", a.shape_ref()});
  Index offset = 0;
  for (int i = 0; i < index.n; ++i) {
    const Index at = index.d[i] < 0 ? index.d[i] + a.dims[i] : index.d[i];
    if (at < 0 || at >= a.dims[i]) fail("element", {"index ", index, " is outside ", a.shape_ref()});
    offset += at * a.strides[i];
  }
  return offset;
}

}  // namespace detail
}  // namespace tern
