// The functions of layer_norm.hpp that are not templates.
#pragma once
#include "layer_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const LayerNorm& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x, &op.weight, &op.bias};
  const int ordinal = common_ordinal(op.y, arrays, 3);
  const RowPieces rows(op.mean.numel, op.weight.numel, 1, op.x.dtype);
  rows.launch(ordinal, layer_norm_kernel, {&op.x, &op.weight, &op.bias, &op.y},
              {.rows = rows.layout,
               .x = op.x.data,
               .weight = op.weight.data,
               .bias = op.bias.data,
               .y = op.y.data,
               .mean = op.mean.data,
               .scale = op.scale.data,
               .eps = op.eps});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const LayerNormGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x, &op.weight};
  const int ordinal = common_ordinal(op.g, arrays, 2);
  const Index rows = op.mean.numel, n = op.weight.numel;
  const DType type = op.x.dtype;
  if (n == 0) return;
  if (op.dx) {
    const RowPieces pieces(rows, n, 1, type);
    pieces.launch(ordinal, layer_norm_gradient_kernel, {&op.x, &op.weight, &op.g, op.dx},
                  {.rows = pieces.layout,
                   .x = op.x.data,
                   .weight = op.weight.data,
                   .g = op.g.data,
                   .mean = op.mean.data,
                   .scale = op.scale.data,
                   .dx = op.dx->data});
  }
  if (!op.dweight && !op.dbias) return;
  const ColumnBlocks blocks(rows, n, type);
  const ColumnLayout merge = blocks.over_parts();
  const cuda::detail::Scratch sums(ordinal, blocks.sums_bytes(op.mean, blocks.parts));
  blocks.launch(ordinal, layer_norm_parts_kernel, {&op.g, &op.x},
                {.layout = blocks.layout,
                 .g = op.g.data,
                 .x = op.x.data,
                 .mean = op.mean.data,
                 .scale = op.scale.data,
                 .sums = sums.data()});
  launch_typed(ordinal, layer_norm_columns_kernel, {type}, {merge.tiles},
               {.layout = merge, .sums = sums.data(), .dweight = data_of(op.dweight), .dbias = data_of(op.dbias)});
}

}}}  // namespace tern::detail::backend
