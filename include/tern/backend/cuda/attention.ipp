// The functions of attention.hpp that are not templates.
#pragma once
#include "attention.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

template <class Op>
AttentionInput attention_input(const Op& op) {
  const AttentionSizes s(op.q, op.k, op.v);
  return {.matrices = s.batch,
          .queries = s.queries,
          .keys = s.keys,
          .size = s.size,
          .width = s.width,
          .causal = op.causal,
          .scale = op.scale,
          .q = op.q.data,
          .k = op.k.data,
          .v = op.v.data};
}

/// A block of threads for 64 rows of each matrix.
inline cuda::Grid attention_grid(Index matrices, Index rows) { return {matrices * ((rows + 63) / 64)}; }

}  // namespace tern::backend::cuda_kernels

namespace tern::inline TERN_BUILD::backend {

[[gnu::noinline]] TERN_INLINE void kernel(On<Cuda>, Types<float>, const Attention& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.q, &op.k, &op.v};
  const int ordinal = common_ordinal(op.out, arrays, 3);
  const AttentionSizes s(op.q, op.k, op.v);
  launch_typed(ordinal, attention_kernel, {DType::float32}, attention_grid(s.batch, s.queries),
               {.in = attention_input(op), .out = op.out.data, .log_sums = op.log_sums.data});
}

[[gnu::noinline]] TERN_INLINE void kernel(On<Cuda>, Types<float>, const AttentionGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.q, &op.k, &op.v, &op.out};
  const int ordinal = common_ordinal(op.g, arrays, 4);
  const AttentionSizes s(op.q, op.k, op.v);
  const cuda::detail::Scratch means(ordinal, std::size_t(s.batch * s.queries) * sizeof(float));
  const AttentionGradientParameters parameters{.in = attention_input(op),
                                               .g = op.g.data,
                                               .out = op.out.data,
                                               .log_sums = op.log_sums.data,
                                               .means = means.data(),
                                               .dq = data_of(op.dq),
                                               .dk = data_of(op.dk),
                                               .dv = data_of(op.dv)};
  launch_typed(ordinal, attention_means_kernel, {DType::float32}, {(s.batch * s.queries + 7) / 8}, parameters);
  if (op.dq)
    launch_typed(ordinal, attention_query_gradient_kernel, {DType::float32}, attention_grid(s.batch, s.queries), parameters);
  if (op.dk || op.dv)
    launch_typed(ordinal, attention_key_gradient_kernel, {DType::float32}, attention_grid(s.batch, s.keys), parameters);
}

}  // namespace tern::backend
