// The functions of convolution.hpp that are not templates.
#pragma once
#include "convolution.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE void set_sizes(int* sizes, const Array& a) {
  if (a.numel > 0x7fffffff) [[unlikely]]
    fail("convolution", {"cuDNN counts fewer than 2^31 elements; ", a.shape_ref(), " has more"});
  for (int i = 2; i < 5; ++i) sizes[i] = 1;
  for (int i = 0; i < a.ndim; ++i) sizes[i + (a.ndim == 3 && i == 2)] = int(a.dims[i]);
}

[[gnu::noinline]] TERN_INLINE ConvolutionForm form_of(ConvolutionPass pass, const ConvParams& c, const Array& x, const Array& weight,
                                                      const Array& y) {
  using namespace tern::cuda;
  constexpr CudnnType types[] = {cudnn_float, cudnn_double, cudnn_bfloat16, cudnn_half};
  ConvolutionForm form{};
  form.pass = pass;
  form.type = types[int(x.dtype)];
  form.format = form.type == cudnn_double ? cudnn_nchw : cudnn_nhwc;
  form.tf32 = form.type == cudnn_float && cuda::detail::convolution_tf32_allowed;
  form.dims = std::max<int>(x.ndim, 4);
  form.groups = int(c.groups);
  set_sizes(form.x, x);
  set_sizes(form.w, weight);
  set_sizes(form.y, y);
  for (int i = 0; i < 3; ++i) form.stride[i] = form.dilation[i] = 1;
  for (int i = 0; i < c.dims; ++i) {
    const int at = i + (c.dims == 1);
    if (std::max({c.stride[i], c.padding[i], c.dilation[i]}) > 0x7fffffff) [[unlikely]]
      fail("convolution", {"cuDNN takes numbers below 2^31, not a stride of ", c.stride[i], ", a padding of ", c.padding[i], " or a dilation of ",
                           c.dilation[i]});
    form.stride[at] = int(c.stride[i]);
    form.padding[at] = int(c.padding[i]);
    form.dilation[at] = int(c.dilation[i]);
  }
  return form;
}

[[gnu::noinline]] TERN_INLINE bool try_fused(const ConvolutionForm& form, const Array& x, const Array& weight, const Array& y, const Array& bias,
                                             const Array* addend) {
  const Array* const arrays[] = {&weight, &y, &bias, addend ? addend : &y};
  const int ordinal = common_ordinal(x, arrays, 4);
  return cuda::detail::try_convolution(ordinal, form, {x.data, weight.data, y.data, bias.data, addend ? addend->data : nullptr});
}

/// In row-major order, between copies. False if cuDNN does not support it.
TERN_INLINE bool try_row_major(int ordinal, ConvolutionForm form, const Array& x, const Array& weight, const Array& y, bool adds) {
  form.format = cuda::cudnn_nchw;
  if (cuda::detail::is_refused(ordinal, form)) return false;
  const Array* const ours[] = {&y, &x, &weight};  // in the order of the passes that write them
  const RowMajor theirs[] = {RowMajor(y), RowMajor(x), RowMajor(weight)};
  const int written = int(form.pass);
  for (int i = 0; i < 3; ++i)
    if (i != written || adds) run<Cuda>(Copy{theirs[i].array, *ours[i]});
  char* const target = theirs[written].array.data;
  if (!cuda::detail::try_convolution(ordinal, form,
                                     {theirs[1].array.data, theirs[2].array.data, theirs[0].array.data, nullptr, adds ? target : nullptr}))
    return false;
  run<Cuda>(Copy{*ours[written], theirs[written].array});
  return true;
}

[[gnu::noinline]] TERN_INLINE void run_convolution(ConvolutionForm form, const Array& x, const Array& weight, const Array& y, bool adds) {
  using cuda::detail::CudnnChoice;
  const Array* const arrays[] = {&weight, &y};
  const int ordinal = common_ordinal(x, arrays, 2);
  const bool channels_last = form.format == cuda::cudnn_nhwc, deterministic = cuda::detail::convolution_deterministic;
  const char* const written[] = {y.data, x.data, weight.data};
  for (const CudnnChoice choice : {CudnnChoice::deterministic, CudnnChoice::any}) {
    if (deterministic && choice == CudnnChoice::any) break;
    form.choice = choice;
    if (channels_last &&
        cuda::detail::try_convolution(ordinal, form, {x.data, weight.data, y.data, nullptr, adds ? written[int(form.pass)] : nullptr}))
      return;
    if (try_row_major(ordinal, form, x, weight, y, adds)) return;
  }
  fail("cuda", {"cuDNN has no ", deterministic ? "deterministic " : "", "algorithm for a convolution of ", x.shape_ref(), " and ", weight.shape_ref(),
                deterministic ? "; others are allowed after cuda::cudnn_deterministic(false)" : ""});
}

TERN_INLINE Array per_channel(const Array& numbers, const Array& to) {
  Array a = numbers;
  a.ndim = std::uint8_t(to.ndim - 1);
  for (int i = 0; i < a.ndim; ++i) a.dims[i] = a.strides[i] = 1;
  a.dims[0] = numbers.numel;
  return a;
}

}  // namespace tern::backend::cuda_kernels
