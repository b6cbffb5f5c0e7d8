// The contract: the largest element or the average of windows that move over one, two or three dimensions.
//
// x and dx are [N, C, in…], y, dy and at [N, C, out…]. All are channels-last without gaps (core/array.hpp). at holds
// int32: the position of the chosen element, in row-major order over the dimensions of the image. Along each dimension,
// window o of `out` covers these positions, as far as they lie inside the image:
//
//   o stride - padding + (0 … kernel - 1) dilation
//   floor(o in / out) … ceil((o + 1) in / out) - 1       if adaptive
//
// An average is divided by the params' divisor. If that is 0, it is divided by the window's number of elements, which
// with count_include_pad includes padding, but nothing beyond the padding. An average has no dilation. A window that
// lies entirely outside the image has the maximum -infinity, at position -1, and the average 0. No size is 0.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// A pooling's parameters for three dimensions. If there are fewer, they are the last ones.
struct PoolParams {
  Index kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  bool adaptive = false, count_include_pad = true;
  Index divisor = 0;
};

/// run<D, T>: y = the largest element of each window of x; NaN if it has one, and then the last NaN counts. Also the
/// positions, unless at is null.
struct MaxPool {
  const PoolParams& params;
  const Array& y;
  const Array* at;
  const Array& x;
};

/// run<D, T>: dx = for each element the sum of dy over the windows that chose it.
struct MaxPoolGradient {
  const PoolParams& params;
  const Array& dx;
  const Array& dy;
  const Array& at;
};

/// run<D, T>: y = the sum of each window of x, divided by its divisor.
struct AveragePool {
  const PoolParams& params;
  const Array& y;
  const Array& x;
};

/// run<D, T>: dx = for each element the sum of dy / divisor over the windows that contain it.
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

}}}  // namespace tern::detail::backend
