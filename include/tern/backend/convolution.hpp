// The contract: convolution over one, two or three dimensions.
//
// x is [N, C, in…], weight [K, C / groups, kernel…], y [N, K, out…], and residual has y's shape. All are channels-last
// without gaps (core/array.hpp). bias and dbias are contiguous. No size is 0. y's sizes fit those of x and weight:
//
//   out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
#pragma once
#include "../core/array.hpp"
#include "../core/convolution_pass.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// A convolution's parameters, for each of its `dims` dimensions.
struct ConvParams {
  int dims = 2;
  Index stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
  Index groups = 1;
};

/// run<D, T>: one pass. It writes one of x, weight and y, or its gradient in its place, and reads the others.
///
///   forward           y = x * weight + bias [K] + residual, then with relu max(y, 0)
///   data_gradient     x's gradient for y's gradient, + bias [C]. With a bias it is the forward pass of a transposed
///                     convolution.
///   weight_gradient   the gradients of weight and bias [K]
///
/// bias and residual may be null; the gradients have neither a residual nor relu.
struct Convolution {
  detail::ConvolutionPass pass;
  ConvParams params;
  const Array& x;
  const Array& weight;
  const Array& y;
  const Array* bias = nullptr;
  const Array* residual = nullptr;
  bool relu = false;
};

}}}  // namespace tern::detail::backend
