// Transposed convolution: the adjoint of a convolution. It is the convolution's data gradient as a forward op.
#pragma once
#include "convolution.hpp"
#include "pad.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Like ConvOptions. stride and padding belong to the convolution whose adjoint this is. That convolution maps several
/// output sizes to the input's size; output_padding chooses one that is larger by so much.
struct ConvTransposeOptions {
  detail::ByName by_name{};
  detail::Dims stride = 1, padding = 0, output_padding = 0;
  Index groups = 1;
  detail::Dims dilation = 1;
};

namespace detail {

/// Sets c to the convolution that maps the output to the input, for x [N, C, in…] with weight [C, K / groups, kernel…]
/// and bias [K] or null. Returns the output's sizes. Error unless they fit.
TERN_API Shape plan_conv_transpose(const CallSite& op, int dims, const Array& x, const Array& weight, const Array* bias,
                                   const ConvTransposeOptions& options, backend::ConvParams& c);

/// The zeros to add at the end of the input for that output padding, in pad's form.
TERN_API Dims transpose_padding(const Dims& output_padding, const backend::ConvParams& c);

/// conv_transpose1d, 2d and 3d: x with or without a batch.
template <class D, class T>
Tensor<D, T> conv_transpose(const CallSite& op, int dims, const Tensor<D, T>& x, const Tensor<D, T>& weight,
                            const Tensor<D, T>& bias, const ConvTransposeOptions& options) {
  const bool single = x.checked(op)->ndim == dims + 1;
  Tensor<D, T> batch = single ? unsqueeze(x, 0, op) : x;
  backend::ConvParams c;
  const Shape sizes = plan_conv_transpose(op, dims, *batch.impl(), *weight.checked(op), bias.impl(), options, c);
  const Dims zeros = transpose_padding(options.output_padding, c);
  for (const Index n : zeros)
    if (n > 0) {
      batch = pad(batch, zeros);
      break;
    }
  const Tensor<D, T> y = convolution_data_gradient(op, contiguous(batch, channels_last, op),
                                                   contiguous(weight, channels_last, op), bias, c, sizes);
  return single ? squeeze(y, 0) : y;
}

}  // namespace detail

/// For each element of x [N, C, in] or [C, in], adds weight [C, K / groups, kernel] times the element at the window of
/// the convolution. Then adds bias [K], which may be undefined. y is [N, K, out] with out = (in − 1) stride − 2 padding
/// + dilation (kernel − 1) + output_padding + 1.
template <Device D, Floating T>
Tensor<D, T> conv_transpose1d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias = {},
                              const ConvTransposeOptions& options = {}, CallSite here = {}) {
  return detail::conv_transpose({"conv_transpose1d", here}, 1, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv_transpose1d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias,
                              const detail::Positional<detail::Dims>& stride, const detail::Dims& padding = 0,
                              const detail::Dims& output_padding = 0, detail::Positional<Index> groups = 1,
                              const detail::Dims& dilation = 1, CallSite here = {}) {
  return conv_transpose1d(
      x, weight, bias,
      {.stride = stride, .padding = padding, .output_padding = output_padding, .groups = groups, .dilation = dilation},
      here);
}

/// The same for images, [N, C, height, width].
template <Device D, Floating T>
Tensor<D, T> conv_transpose2d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias = {},
                              const ConvTransposeOptions& options = {}, CallSite here = {}) {
  return detail::conv_transpose({"conv_transpose2d", here}, 2, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv_transpose2d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias,
                              const detail::Positional<detail::Dims>& stride, const detail::Dims& padding = 0,
                              const detail::Dims& output_padding = 0, detail::Positional<Index> groups = 1,
                              const detail::Dims& dilation = 1, CallSite here = {}) {
  return conv_transpose2d(
      x, weight, bias,
      {.stride = stride, .padding = padding, .output_padding = output_padding, .groups = groups, .dilation = dilation},
      here);
}

/// The same for volumes, [N, C, depth, height, width].
template <Device D, Floating T>
Tensor<D, T> conv_transpose3d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias = {},
                              const ConvTransposeOptions& options = {}, CallSite here = {}) {
  return detail::conv_transpose({"conv_transpose3d", here}, 3, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv_transpose3d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                              const std::type_identity_t<Tensor<D, T>>& bias,
                              const detail::Positional<detail::Dims>& stride, const detail::Dims& padding = 0,
                              const detail::Dims& output_padding = 0, detail::Positional<Index> groups = 1,
                              const detail::Dims& dilation = 1, CallSite here = {}) {
  return conv_transpose3d(
      x, weight, bias,
      {.stride = stride, .padding = padding, .output_padding = output_padding, .groups = groups, .dilation = dilation},
      here);
}

TERN_SAME_PLACE(conv_transpose1d)
TERN_SAME_PLACE(conv_transpose2d)
TERN_SAME_PLACE(conv_transpose3d)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "conv_transpose.ipp"
#endif
