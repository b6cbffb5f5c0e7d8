// The contract: convolution over one, two or three dimensions. A device implements
//
//   convolution<T>(device, c, y, x, weight, bias, residual)          y = x * weight + bias + residual, below 0 as 0 if c.relu
//   convolution_data_gradient<T>(device, c, dx, dy, weight, bias)    dx = x's gradient where y's is dy, + bias
//   convolution_weight_gradient<T>(device, c, dweight, dbias, x, dy) weight's and bias's gradient
//
// x is [N, C, in…], weight [K, C / groups, kernel…], y [N, K, out…], residual as y: all channels-last without gaps (core/array.hpp).
// bias and dbias are contiguous: K elements, those of a data gradient C (it is a transposed convolution's forward pass).
// bias, residual and dbias may be null. No size is 0; y's are right for those of x and weight:
//
//   out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD {

/// How a convolution's window moves, for each of its `dims` dimensions.
struct Convolution {
  int dims = 2;
  Index stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  Index groups = 1;
  bool relu = false;
};

}  // namespace tern
