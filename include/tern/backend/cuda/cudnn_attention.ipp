// The functions of cudnn_attention.hpp that are not templates.
#pragma once
#include "cudnn_attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

using cuda::detail::AttentionBias;
using cuda::detail::AttentionForm;

/// The strides of batch, head and position. That of one element is 1 element's, whatever the array says.
TERN_INLINE void set_strides(std::int64_t (&to)[3], const Array& x) {
  for (int i = 0; i < 3; ++i) to[i] = x.dims[i] == 1 ? x.numel : x.strides[i];
}

/// The strides of a gradient of x.
TERN_INLINE void set_dense_strides(std::int64_t (&to)[3], const Array& x) {
  const Index heads = x.dims[1], length = x.dims[2], size = x.dims[3];
  const bool alternate = heads_alternate(x);
  to[0] = x.dims[0] == 1 ? x.numel : heads * length * size;
  to[1] = heads == 1 ? x.numel : alternate ? size : length * size;
  to[2] = length == 1 ? x.numel : alternate ? heads * size : size;
}

TERN_INLINE AttentionForm form_of(const LibraryAttention& op) {
  AttentionForm f{.type = op.q.dtype == DType::float16 ? cuda::cudnn_half : cuda::cudnn_bfloat16,
                  .causal = op.causal,
                  .statistics = op.log_sums != nullptr,
                  .scale = op.scale,
                  .dropout = op.random ? op.dropout_p : 0,
                  .batch = op.q.dims[0],
                  .heads = op.q.dims[1],
                  .shared_heads = op.k.dims[1],
                  .queries = op.q.dims[2],
                  .keys = op.k.dims[2],
                  .size = op.q.dims[3],
                  .width = op.v.dims[3]};
  set_strides(f.q, op.q), set_strides(f.k, op.k), set_strides(f.v, op.v), set_strides(f.out, op.out);
  if (!op.bias) return f;
  f.has_bias = AttentionBias::added;
  for (int i = 0; i < 3; ++i) f.bias_sizes[i] = op.bias->dims[i];
  set_strides(f.bias, *op.bias);
  return f;
}

TERN_INLINE AttentionForm gradient_form_of(const LibraryAttention& op) {
  AttentionForm f = form_of(op);
  f.backward = true;
  f.deterministic = cuda::detail::convolution_deterministic;
  if (op.bias_gradient) f.has_bias = AttentionBias::with_gradient;
  set_dense_strides(f.dq, op.q), set_dense_strides(f.dk, op.k), set_dense_strides(f.dv, op.v);
  return f;
}

/// Whether cuDNN's gradient is one that NVIDIA's own callers let through: not of one query and one key; before 9.16
/// only for keys whose number 128 divides; and on compute capability 10 a deterministic one only with settings of an
/// engine, which are not asked for here.
TERN_INLINE bool has_right_gradient(const AttentionForm& f, int ordinal) {
  return (f.queries > 1 || f.keys > 1) && (f.keys % 128 == 0 || cuda::cudnn().functions.cudnnGetVersion() >= 91600) &&
         !(f.deterministic && cuda::detail::bind(ordinal).major == 10);
}

TERN_INLINE cuda::detail::AttentionMemory memory_of(const LibraryAttention& op) {
  const std::int64_t* const random = op.random ? op.random->as<std::int64_t>() : nullptr;
  return {.q = op.q.data,
          .k = op.k.data,
          .v = op.v.data,
          .bias = data_of(op.bias),
          .out = op.out.data,
          .log_sums = op.log_sums ? op.log_sums->data : nullptr,
          .seed = random,
          .offset = random ? random + 2 : nullptr};
}

TERN_NOINLINE void run_cudnn(const LibraryAttention& op) {
  const Array* const arrays[] = {&op.q, &op.k, &op.v, op.bias ? op.bias : &op.q};
  const int ordinal = common_ordinal(op.out, arrays, 4);
  op.refused = true;
  if (op.log_sums) {
    const AttentionForm gradient = gradient_form_of(op);
    if (!has_right_gradient(gradient, ordinal) || !has_cudnn_attention(ordinal, gradient)) return;
  }
  op.refused = !run_cudnn_attention(ordinal, form_of(op), memory_of(op));
}

TERN_NOINLINE void run_cudnn(const LibraryAttentionGradient& op) {
  const LibraryAttention& forward = op.forward;
  cuda::detail::AttentionMemory memory = memory_of(forward);
  memory.g = op.g.data;
  memory.dq = op.dq.data, memory.dk = op.dk.data, memory.dv = op.dv.data;
  memory.dbias = op.dbias ? op.dbias->data : nullptr;
  const AttentionForm form = gradient_form_of(forward);
  forward.refused =
      !has_right_gradient(form, forward.q.ordinal) || !run_cudnn_attention(forward.q.ordinal, form, memory);
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE bool has_library_attention(On<Cuda>, const Array& q, const Array& v) {
  const auto fits = [](Index size) { return size % 8 == 0 && size <= 256; };
  return fits(q.dims[q.ndim - 1]) && fits(v.dims[v.ndim - 1]) && cuda::detail::bind(q.ordinal).major >= 8 &&
         cuda::has_cudnn();
}

}}}  // namespace tern::detail::backend
