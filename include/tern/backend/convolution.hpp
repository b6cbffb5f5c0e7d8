// The contract: convolution over one, two or three dimensions.
//
// x is [N, C, in…], weight [K, C / groups, kernel…], y [N, K, out…], and residual has y's shape. All are channels-last
// without gaps (core/array.hpp). bias and dbias are contiguous. No size is 0. y's sizes fit those of x and weight:
//
//   out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// A convolution's parameters, for each of its `dims` dimensions.
struct ConvParams {
  int dims = 2;
  Index stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  Index groups = 1;
};

/// run<D, T>: y = x * weight + bias [K] + residual, then with relu max(y, 0). bias and residual may be null.
struct Convolution {
  const ConvParams& params;
  const Array& y;
  const Array& x;
  const Array& weight;
  const Array* bias = nullptr;
  const Array* residual = nullptr;
  bool relu = false;
};

/// run<D, T>: dx = x's gradient for y's gradient dy, + bias [C] if given. With a bias it is the forward pass of a
/// transposed convolution.
struct ConvolutionDataGradient {
  const ConvParams& params;
  const Array& dx;
  const Array& dy;
  const Array& weight;
  const Array* bias = nullptr;
};

/// run<D, T>: the gradients of weight and bias. The bias's may be null.
struct ConvolutionWeightGradient {
  const ConvParams& params;
  const Array& dweight;
  const Array* dbias;
  const Array& x;
  const Array& dy;
};

}}}  // namespace tern::detail::backend
