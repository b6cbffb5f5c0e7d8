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

TERN_NOINLINE ConvolutionForm form_of(detail::ConvolutionPass pass, const ConvParams& c, const Array& x,
                                      const Array& weight, const Array& y) {
  using namespace tern::cuda;
  constexpr CudnnType types[] = {cudnn_float, cudnn_double, cudnn_bfloat16, cudnn_half};
  ConvolutionForm form{};
  form.pass = pass;
  form.type = types[int(x.dtype)];
  form.exact = form.type == cudnn_float && !cuda::detail::convolution_tf32_allowed;
  form.deterministic = cuda::detail::convolution_deterministic;
  form.dims = std::int16_t(std::max<int>(x.ndim, 4));
  set_sizes(form.x, x);
  set_sizes(form.w, weight);
  set_sizes(form.y, y);
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

TERN_NOINLINE bool try_fused(ConvolutionForm form, const Array& x, const Array& weight, const Array& y,
                             const Array& bias, const Array* addend, bool relu) {
  const Array* const arrays[] = {&weight, &y, &bias, addend ? addend : &y};
  const int ordinal = common_ordinal(x, arrays, 4);
  form.bias = true, form.addend = addend, form.relu = relu;
  return start_convolution(ordinal, form, {x.data, weight.data, y.data, bias.data, addend ? addend->data : nullptr});
}

TERN_NOINLINE void run_convolution(ConvolutionForm form, const Array& x, const Array& weight, const Array& y,
                                   bool adds) {
  const Array* const arrays[] = {&weight, &y};
  const int ordinal = common_ordinal(x, arrays, 2);
  const char* const written[] = {y.data, x.data, weight.data};
  form.addend = adds;
  std::string reason;
  if (!start_convolution(ordinal, form,
                         {x.data, weight.data, y.data, nullptr, adds ? written[int(form.pass)] : nullptr}, &reason))
    Error::fail("cuda",
                {"cuDNN has no ", form.deterministic ? "deterministic " : "", "kernel for a convolution of ",
                 x.shape_ref(), " and ", weight.shape_ref(),
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
