// Convolutions as graphs of cuDNN: one pass of a convolution, and behind a forward pass the bias, a residual and relu.
#pragma once
#include "cudnn_graph.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// One pass of a convolution as cuDNN describes it. Sizes are batch, channels, then the spatial sizes; elements are
/// channels-last.
struct ConvolutionForm {
  tern::detail::ConvolutionPass pass;
  CudnnType type;
  bool bias, addend,
      relu;    // forward: y = x * w + bias + addend, with relu at least 0; a data gradient's addend is its target
  bool exact;  // operands of float are not rounded to TF32
  bool deterministic;
  std::uint8_t alignment;  // bytes that divide all addresses
  std::int16_t dims;
  int x[5], w[5], y[5], padding[3], stride[3], dilation[3];

  bool operator==(const ConvolutionForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_fields(*this); }
  GraphRules rules() const { return {.deterministic = deterministic, .exact = exact}; }
  TERN_API CudnnGraph graph() const;
};

/// The addresses of a convolution's elements. The pass writes one of x, weight and y. What a form does not have is
/// null.
struct ConvolutionMemory {
  void *x, *w, *y;
  const void *bias, *addend;
};

/// Runs a convolution on the device's stream. False, and cuDNN's reason, if it does not support the convolution.
TERN_API bool try_convolution(int ordinal, const ConvolutionForm& form, const ConvolutionMemory& memory,
                              std::string* reason = nullptr);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "cudnn_convolution.ipp"
#endif
