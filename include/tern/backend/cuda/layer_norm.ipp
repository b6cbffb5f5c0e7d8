// What layer_norm.hpp declares and is no template.
#pragma once
#include "layer_norm.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_layer_norm(const LayerNorm& op) {
  const Array* const arrays[] = {&op.x, &op.weight, &op.bias};
  const int ordinal = common_ordinal(op.y, arrays, 3);
  const Index n = op.weight.numel;
  const RowBlocks rows(op.mean.numel, n, false);
  Words words = rows.words();
  words.add(n);
  for (const Array* array : {&op.x, &op.weight, &op.bias, &op.y, &op.mean, &op.scale}) words.add(array->data);
  words.add_number(op.eps);
  rows.launch(ordinal, layer_norm_kernel, {op.x.dtype}, words);
}

[[gnu::noinline]] TERN_INLINE void run_layer_norm_gradient(const LayerNormGradient& op) {
  const Array* const arrays[] = {&op.x, &op.weight};
  const int ordinal = common_ordinal(op.g, arrays, 2);
  const Index rows = op.mean.numel, n = op.weight.numel;
  const DType type = op.x.dtype;
  if (n == 0) return;
  if (op.dx) {
    const RowBlocks blocks(rows, n, false);
    Words words = blocks.words();
    words.add(n);
    for (const Array* array : {&op.x, &op.weight, &op.g, &op.mean, &op.scale, op.dx}) words.add(array->data);
    blocks.launch(ordinal, layer_norm_gradient_kernel, {type}, words);
  }
  if (!op.dweight && !op.dbias) return;
  const Index part = std::max<Index>(64, (rows + 127) / 128), parts = (rows + part - 1) / part, tiles = (n + 31) / 32;
  const cuda::detail::Scratch sums(ordinal, std::size_t(2 * parts * n * size_of(op.mean.dtype)));
  if (parts) {
    Words words;
    for (const Index word : {rows, n, part, tiles}) words.add(word);
    for (const Array* array : {&op.g, &op.x, &op.mean, &op.scale}) words.add(array->data);
    words.add(sums.data());
    launch_typed(ordinal, layer_norm_parts_kernel, {type}, {parts * tiles}, words);
  }
  Words words;
  words.add(n);
  words.add(parts);
  words.add(sums.data());
  words.add(op.dweight ? op.dweight->data : nullptr);
  words.add(op.dbias ? op.dbias->data : nullptr);
  launch_typed(ordinal, layer_norm_columns_kernel, {type}, grid_for(2 * n), words);
}

}  // namespace tern::backend::cuda_kernels
