// The functions of convolution.hpp that are not templates.
#pragma once
#include "convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE void set_sizes(int* sizes, const Array& a) {
  if (a.numel > 0x7fffffff) [[unlikely]]
    Error::fail("convolution", {"cuDNN counts fewer than 2^31 elements; ", a.shape_ref(), " has more"});
  for (int i = 2; i < 5; ++i) sizes[i] = 1;
  for (int i = 0; i < a.ndim; ++i) sizes[i + (a.ndim == 3 && i == 2)] = int(a.dims[i]);
}

TERN_NOINLINE ConvolutionForm form_of(const Convolution& op) {
  using namespace tern::cuda;
  constexpr CudnnType types[] = {cudnn_float, cudnn_double, cudnn_bfloat16, cudnn_half};
  ConvolutionForm form{};
  const ConvParams& c = op.params;
  form.pass = op.pass;
  form.type = types[int(op.x.dtype)];
  form.exact = form.type == cudnn_float && !cuda::detail::convolution_tf32_allowed;
  form.deterministic = cuda::detail::convolution_deterministic;
  form.dims = std::int16_t(std::max<int>(op.x.ndim, 4));
  set_sizes(form.x, op.x);
  set_sizes(form.w, op.weight);
  set_sizes(form.y, op.y);
  for (int i = 0; i < 3; ++i) form.stride[i] = form.dilation[i] = 1;
  for (int i = 0; i < c.dims; ++i) {
    const int at = i + (c.dims == 1);
    if (std::max({c.stride[i], c.padding[i], c.dilation[i]}) > 0x7fffffff) [[unlikely]]
      Error::fail("convolution", {"cuDNN takes numbers below 2^31, not a stride of ", c.stride[i], ", a padding of ",
                                  c.padding[i], " or a dilation of ", c.dilation[i]});
    form.stride[at] = int(c.stride[i]);
    form.padding[at] = int(c.padding[i]);
    form.dilation[at] = int(c.dilation[i]);
  }
  return form;
}

/// The bytes, at most 16, that divide all of the addresses.
TERN_INLINE std::uint8_t common_alignment(std::initializer_list<const void*> addresses) {
  std::uintptr_t bits = 16;
  for (const void* address : addresses) bits |= reinterpret_cast<std::uintptr_t>(address);
  return std::uint8_t(bits & (~bits + 1));
}

TERN_INLINE bool start_convolution(int ordinal, ConvolutionForm form, const cuda::detail::ConvolutionMemory& m,
                                   std::string* reason = nullptr) {
  form.alignment = common_alignment({m.x, m.w, m.y, m.bias, m.addend});
  return cuda::detail::try_convolution(ordinal, form, m, reason);
}

TERN_NOINLINE bool try_fused(ConvolutionForm form, const Convolution& op) {
  const Array* const arrays[] = {&op.weight, &op.y, op.bias, op.residual ? op.residual : &op.y};
  const int ordinal = common_ordinal(op.x, arrays, 4);
  form.bias = true, form.addend = op.residual, form.relu = op.relu;
  return start_convolution(ordinal, form, {op.x.data, op.weight.data, op.y.data, op.bias->data, data_of(op.residual)});
}

TERN_NOINLINE void run_convolution(ConvolutionForm form, const Convolution& op, bool adds) {
  const Array* const arrays[] = {&op.weight, &op.y};
  const int ordinal = common_ordinal(op.x, arrays, 2);
  char* const written[] = {op.y.data, op.x.data, op.weight.data};
  form.addend = adds;
  std::string reason;
  if (!start_convolution(ordinal, form,
                         {op.x.data, op.weight.data, op.y.data, nullptr, adds ? written[int(op.pass)] : nullptr},
                         &reason))
    Error::fail("cuda",
                {"cuDNN has no ", form.deterministic ? "deterministic " : "", "kernel for a convolution of ",
                 op.x.shape_ref(), " and ", op.weight.shape_ref(),
                 form.deterministic ? "; others are allowed after cuda::cudnn_deterministic(false): " : ": ", reason});
}

TERN_INLINE Array per_channel(const Array& numbers, const Array& to) {
  Array a = numbers;
  a.ndim = std::uint8_t(to.ndim - 1);
  for (int i = 0; i < a.ndim; ++i) a.dims[i] = a.strides[i] = 1;
  a.dims[0] = numbers.numel;
  return a;
}

}}}  // namespace tern::detail::backend::cuda_kernels
