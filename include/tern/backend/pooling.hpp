// The contract: windows that move over one, two or three dimensions, and the largest element or the average of each. A
// device implements
//
//   max_pool<T>(device, p, y, at, x)
//       y = the largest elements of x's windows, the last NaN where there is one
//   max_pool_gradient<T>(device, p, dx, dy, at)
//       dx = for each element the sum of dy of the windows that chose it
//   average_pool<T>(device, p, y, x)
//       y = the windows' sums over their divisors
//   average_pool_gradient<T>(device, p, dx, dy)
//       dx = its adjoint
//
// x and dx are [N, C, in…], y, dy and at [N, C, out…]: all channels-last without gaps (core/array.hpp). at, which may
// be null for max_pool, holds int32: the chosen element's place, counted in row-major order over the dimensions of the
// image. Along each dimension window o of `out` is, before it is cut off at the image's borders,
//
//   o stride - padding + (0 … kernel - 1) dilation
//   floor(o in / out) … ceil((o + 1) in / out) - 1       if adaptive
//
// The divisor of an average is p.divisor if that is not 0; else how many elements the window has, those in the padding
// counted if count_include_pad, but not what lies behind it. An average has no dilation. A window that lies outside of
// the image has the maximum -infinity, at -1, and the average 0. No size is 0.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD {

/// How a pooling's window moves over three dimensions; where there are fewer, they are the last.
struct Pooling {
  Index kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  bool adaptive = false, count_include_pad = true;
  Index divisor = 0;
};

/// [N, C, …] as three-dimensional images.
struct Images {
  Index count, channels, size[3];
  explicit Images(const Array& a) : count(a.dims[0]), channels(a.dims[1]) {
    for (int i = 0; i < 3; ++i) size[i] = a.ndim + i >= 5 ? a.dims[a.ndim - 3 + i] : 1;
  }
  Index places() const { return size[0] * size[1] * size[2]; }
};

}  // namespace tern
