// The functions of attention.hpp that are not templates.
#pragma once
#include "../../device/cuda/cublaslt.hpp"
#include "attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

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

/// The kernel of a table for these sizes. A block owns rows of `owned` matrices, and has up to `columns` columns of the
/// result.
template <class P, std::size_t n>
void launch_tiles(const std::array<TileKernel<P>, n>& table, const AttentionSizes& s, Index rows, int owned,
                  int columns, const P& parameters) {
  const bool exact = s.dtype == DType::float32 && !cuda::detail::tf32_allowed;
  const auto fits = [&](const TileKernel<P>& each) {
    return each.shape.bytes == detail::size_of(s.dtype) && each.shape.exact == exact &&
           each.shape.head >= std::max(s.size, s.width);
  };
  const TileKernel<P>& kernel = *std::find_if(table.begin(), table.end(), fits);
  const TileSizes& shape = kernel.shape;
  const Index blocks = s.batch * ((rows + shape.rows() - 1) / shape.rows()) * std::max(1, shape.head / columns);
  launch_typed(s.ordinal, kernel, {s.dtype}, {blocks, 32 * shape.warps, shape.shared_bytes(owned)}, parameters);
}

TERN_NOINLINE bool has_attention_tiles(const AttentionSizes& s) {
  return cuda::detail::bind(s.ordinal).major >= 8 &&
         std::max(s.size, s.width) <= (detail::size_of(s.dtype) == 2 ? 256 : 128);
}

TERN_NOINLINE void run_attention(const Attention& op) {
  const Array* const arrays[] = {&op.q, &op.k, &op.v};
  const int ordinal = common_ordinal(op.out, arrays, 3);
  const AttentionSizes s(op.q, op.k, op.v);
  const AttentionParameters parameters{.in = attention_input(op), .out = op.out.data, .log_sums = op.log_sums.data};
  if (has_attention_tiles(s)) return launch_tiles(attention_tile_kernels, s, s.queries, 1, 256, parameters);
  launch_typed(ordinal, attention_kernel, {s.dtype}, attention_grid(s.batch, s.queries), parameters);
}

TERN_NOINLINE void run_attention_gradient(const AttentionGradient& op) {
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
  launch_typed(ordinal, attention_means_kernel, {s.dtype}, {(s.batch * s.queries + 7) / 8}, parameters);
  const bool tiles = has_attention_tiles(s);
  if (op.dq && tiles) launch_tiles(attention_tile_query_kernels, s, s.queries, 2, 256, parameters);
  if (op.dq && !tiles)
    launch_typed(ordinal, attention_query_gradient_kernel, {s.dtype}, attention_grid(s.batch, s.queries), parameters);
  if ((op.dk || op.dv) && tiles) launch_tiles(attention_tile_key_kernels, s, s.keys, 2, 128, parameters);
  if ((op.dk || op.dv) && !tiles)
    launch_typed(ordinal, attention_key_gradient_kernel, {s.dtype}, attention_grid(s.batch, s.keys), parameters);
}

}}}  // namespace tern::detail::backend::cuda_kernels
