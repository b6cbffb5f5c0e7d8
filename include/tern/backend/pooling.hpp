// The contract: windows that move over one, two or three dimensions, and the largest element or the average of each.
//
// x and dx are [N, C, in…], y, dy and at [N, C, out…]: all channels-last without gaps (core/array.hpp). at holds int32: the chosen
// element's place, counted in row-major order over the dimensions of the image. Along each dimension window o of `out` is, before it is
// cut off at the image's borders,
//
//   o stride - padding + (0 … kernel - 1) dilation
//   floor(o in / out) … ceil((o + 1) in / out) - 1       if adaptive
//
// The divisor of an average is the params' if that is not 0; else how many elements the window has, those in the padding
// counted if count_include_pad, but not what lies behind it. An average has no dilation. A window that lies outside of
// the image has the maximum -infinity, at -1, and the average 0. No size is 0.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// How a pooling's window moves over three dimensions; where there are fewer, they are the last.
struct PoolParams {
  Index kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  bool adaptive = false, count_include_pad = true;
  Index divisor = 0;
};

/// run<D, T>: y = the largest elements of x's windows, the last NaN where there is one, and their places unless at is null.
struct MaxPool {
  const PoolParams& params;
  const Array& y;
  const Array* at;
  const Array& x;
};

/// run<D, T>: dx = for each element the sum of dy of the windows that chose it.
struct MaxPoolGradient {
  const PoolParams& params;
  const Array& dx;
  const Array& dy;
  const Array& at;
};

/// run<D, T>: y = the sums of x's windows over their divisors.
struct AveragePool {
  const PoolParams& params;
  const Array& y;
  const Array& x;
};

/// run<D, T>: dx = for each element the sum of dy over the divisors of the windows that hold it.
struct AveragePoolGradient {
  const PoolParams& params;
  const Array& dx;
  const Array& dy;
};

/// [N, C, …] as three-dimensional images.
struct Images {
  Index count, channels, size[3];
  explicit Images(const Array& a) : count(a.dims[0]), channels(a.dims[1]) {
    for (int i = 0; i < 3; ++i) size[i] = a.ndim + i >= 5 ? a.dims[a.ndim - 3 + i] : 1;
  }
  Index places() const { return size[0] * size[1] * size[2]; }
};

}  // namespace tern::backend
