// The contract: convolution over one, two or three dimensions.
//
// x is [N, C, in…], weight [K, C / groups, kernel…], y [N, K, out…], residual as y: all channels-last without gaps (core/array.hpp).
// bias and dbias are contiguous. No size is 0; y's are right for those of x and weight:
//
//   out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// How a convolution's window moves, for each of its `dims` dimensions.
struct ConvParams {
  int dims = 2;
  Index stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  Index groups = 1;
};

/// run<D, T>: y = x * weight, + bias [K] and residual if given, below 0 as 0 with relu.
struct Convolution {
  const ConvParams& params;
  const Array& y;
  const Array& x;
  const Array& weight;
  const Array* bias = nullptr;
  const Array* residual = nullptr;
  bool relu = false;
};

/// run<D, T>: dx = x's gradient where y's is dy, + bias [C] if given (it is a transposed convolution's forward pass).
struct ConvolutionDataGradient {
  const ConvParams& params;
  const Array& dx;
  const Array& dy;
  const Array& weight;
  const Array* bias = nullptr;
};

/// run<D, T>: the gradients of weight and, unless it is null, of bias.
struct ConvolutionWeightGradient {
  const ConvParams& params;
  const Array& dweight;
  const Array* dbias;
  const Array& x;
  const Array& dy;
};

}  // namespace tern::backend
