// Convolution by cuDNN, in channels-last order. It has no such kernels for doubles, which are brought to row-major
// order and back.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../convolution.hpp"
#include "../../device/cuda/cudnn.hpp"
#include "copy.hpp"
#include "map.hpp"
#include "reduce.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

using cuda::detail::ConvolutionForm;
using cuda::detail::ConvolutionPass;

/// Sizes as cuDNN counts them: of one dimension of space it makes two, the first of size 1.
inline void set_sizes(int* sizes, const Array& a) {
  if (a.numel > 0x7fffffff) [[unlikely]]
    fail("convolution", {"cuDNN counts fewer than 2^31 elements; ", a.shape_ref(), " has more"});
  for (int i = 2; i < 5; ++i) sizes[i] = 1;
  for (int i = 0; i < a.ndim; ++i) sizes[i + (a.ndim == 3 && i == 2)] = int(a.dims[i]);
}

[[gnu::noinline]] inline ConvolutionForm form_of(ConvolutionPass pass, const Convolution& c, const Array& x,
                                                 const Array& weight, const Array& y) {
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
    form.stride[at] = int(c.stride[i]);
    form.padding[at] = int(c.padding[i]);
    form.dilation[at] = int(c.dilation[i]);
  }
  return form;
}

/// Room for an array's elements in row-major order.
struct RowMajor {
  cuda::detail::Scratch room;
  Array array;
  explicit RowMajor(const Array& a) : room(a.ordinal, bytes_of(a)), array(a) {
    array.data = room.data();
    set_contiguous_strides(array);
  }
};

/// One pass. bias and addend, which a fused form has: null otherwise.
[[gnu::noinline]] inline void run_convolution(const ConvolutionForm& form, const Array& x, const Array& weight,
                                              const Array& y, const Array* bias, const Array* addend) {
  const Array* const arrays[] = {&weight, &y, bias ? bias : &y, addend ? addend : &y};
  const int ordinal = common_ordinal(x, arrays, 4);
  const char *const at_bias = bias ? bias->data : nullptr, *const at_addend = addend ? addend->data : nullptr;
  if (form.type != cuda::cudnn_double)
    return cuda::detail::run_convolution(ordinal, form, {x.data, weight.data, y.data, at_bias, at_addend});
  const Array* const ours[] = {&y, &x, &weight};  // in the order of the passes that write them
  const RowMajor theirs[] = {RowMajor(y), RowMajor(x), RowMajor(weight)};
  const int written = int(form.pass);
  for (int i = 0; i < 3; ++i)
    if (i != written) run<Cuda>(Copy{theirs[i].array, *ours[i]});
  cuda::detail::run_convolution(
      ordinal, form, {theirs[1].array.data, theirs[2].array.data, theirs[0].array.data, nullptr, nullptr});
  run<Cuda>(Copy{*ours[written], theirs[written].array});
}

/// A number for each channel, as an array that broadcasts to `to`.
inline Array per_channel(const Array& numbers, const Array& to) {
  Array a = numbers;
  a.ndim = std::uint8_t(to.ndim - 1);
  for (int i = 0; i < a.ndim; ++i) a.dims[i] = a.strides[i] = 1;
  a.dims[0] = numbers.numel;
  return a;
}

/// y += x, broadcast.
template <class T>
void add_to(const Array& y, const Array& x) {
  const Array* const terms[] = {&y, &x};
  run<Cuda, T, T, T>(Map([](auto a, auto b) { return a + b; }, y, terms));
}

}  // namespace cuda_kernels

/// y = x * weight + bias + residual, below 0 as 0 if c.relu. bias and residual may be null.
template <class T>
void convolution(Cuda, const Convolution& c, const Array& y, const Array& x, const Array& weight, const Array* bias,
                 const Array* residual) {
  cuda_kernels::ConvolutionForm form = cuda_kernels::form_of(cuda_kernels::ConvolutionPass::forward, c, x, weight, y);
  form.fused = bias && !std::is_same_v<T, double>;
  form.relu = form.fused && c.relu;
  if (form.fused) return cuda_kernels::run_convolution(form, x, weight, y, bias, residual);
  cuda_kernels::run_convolution(form, x, weight, y, nullptr, nullptr);
  if (bias) cuda_kernels::add_to<T>(y, cuda_kernels::per_channel(*bias, y));
  if (residual) cuda_kernels::add_to<T>(y, *residual);
  const Array* const in[] = {&y};
  if (c.relu) run<Cuda, T, T>(Map([](auto v) { return where(v < 0, 0, v); }, y, in));
}

/// dx = the gradient of x where y's is dy, + bias, which may be null.
template <class T>
void convolution_data_gradient(Cuda, const Convolution& c, const Array& dx, const Array& dy, const Array& weight,
                               const Array* bias) {
  const cuda_kernels::ConvolutionForm form = cuda_kernels::form_of(cuda_kernels::ConvolutionPass::data, c, dx, weight, dy);
  // The sum of both is rounded once: cuDNN adds to what is there, but in row-major order for doubles.
  const bool adds = bias && !std::is_same_v<T, double>;
  if (adds) run<Cuda>(Copy{dx, cuda_kernels::per_channel(*bias, dx)});
  cuda_kernels::run_convolution(form, dx, weight, dy, nullptr, adds ? &dx : nullptr);
  if (bias && !adds) cuda_kernels::add_to<T>(dx, cuda_kernels::per_channel(*bias, dx));
}

/// The gradients of weight and, unless it is null, bias.
template <class T>
void convolution_weight_gradient(Cuda, const Convolution& c, const Array& dweight, const Array* dbias, const Array& x,
                                 const Array& dy) {
  cuda_kernels::run_convolution(cuda_kernels::form_of(cuda_kernels::ConvolutionPass::weight, c, x, dweight, dy), x, dweight, dy, nullptr,
                        nullptr);
  if (!dbias) return;
  const Array* const in[] = {&dy};
  const auto same = [](auto v) { return v; };
  run<Cuda, T, T, T>(Reduce{Sum{}, same, same, *dbias, in, dy.shape(), ~2u});
}

}  // namespace backend
}  // namespace tern
