// What batch_norm.hpp declares and is no template.
#pragma once
#include "batch_norm.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE ChannelBlocks::ChannelBlocks(Index row_count, Index channel_count) : rows(row_count), channels(channel_count) {
  across = std::min<Index>(32, power_of_two_below(2 * channels - 1));
  tiles = (channels + across - 1) / across;
  part = std::max<Index>(64, (rows * tiles + 1023) / 1024);
  parts = (rows + part - 1) / part;
}

TERN_INLINE ChannelBlocks ChannelBlocks::over_parts() const {
  ChannelBlocks b = *this;
  b.rows = b.part = parts;
  b.parts = 1;
  return b;
}

[[gnu::noinline]] TERN_INLINE void run_statistics(const BatchNorm& op) {
  const Array* const running_mean = op.running_mean ? op.running_mean : &op.x;
  const Array* const running_var = op.running_var ? op.running_var : &op.x;
  const Array* const arrays[] = {&op.mean, &op.scale, running_mean, running_var};
  const int ordinal = common_ordinal(op.x, arrays, 4);
  const ChannelBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1]);
  const cuda::detail::Scratch moments(ordinal, blocks.sums_bytes(op.mean));
  Words words = blocks.words();
  words.add(op.x.data);
  words.add(moments.data());
  blocks.launch(ordinal, batch_norm_parts_kernel, op.x.dtype, words);
  const ChannelBlocks merge = blocks.over_parts();
  Words merged = merge.words();
  merged.add(blocks.rows);
  merged.add(blocks.part);
  merged.add(moments.data());
  merged.add(op.mean.data);
  merged.add(op.scale.data);
  merged.add(data_of(op.running_mean));
  merged.add(data_of(op.running_var));
  merged.add_number(op.eps);
  merged.add_number(op.momentum);
  merge.launch(ordinal, batch_norm_statistics_kernel, op.x.dtype, merged);
}

[[gnu::noinline]] TERN_INLINE void run_batch_norm(const BatchNorm& op) {
  run_statistics(op);
  run_normalise(op, op.scale, false);
}

[[gnu::noinline]] TERN_INLINE void run_batch_norm_inference(const BatchNormInference& op) { run_normalise(op, op.variance, true); }

[[gnu::noinline]] TERN_INLINE void run_batch_norm_gradient(const BatchNormGradient& op) {
  const Array* const arrays[] = {&op.x, &op.mean, &op.scale, &op.weight, &op.bias};
  const int ordinal = common_ordinal(op.g, arrays, 5);
  const DType type = op.x.dtype;
  const ChannelBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1]), merge = blocks.over_parts();
  const cuda::detail::Scratch sums(ordinal, blocks.sums_bytes(op.mean)), shares(ordinal, merge.sums_bytes(op.mean));
  const auto common = [&] {
    Words words = blocks.words();
    for (const Array* array : {&op.mean, &op.scale, &op.weight, &op.bias, &op.g, &op.x}) words.add(array->data);
    words.add(data_of(op.y));
    words.add(Index(op.relu));
    return words;
  };
  Words words = common();
  words.add(data_of(op.dresidual));
  words.add(sums.data());
  blocks.launch(ordinal, batch_norm_gradient_parts_kernel, type, words);
  Words merged = merge.words();
  merged.add(blocks.rows);
  merged.add(sums.data());
  merged.add(op.scale.data);
  merged.add(data_of(op.dweight));
  merged.add(data_of(op.dbias));
  merged.add(shares.data());
  merge.launch(ordinal, batch_norm_gradient_sums_kernel, type, merged);
  if (!op.dx) return;
  Words last = common();
  last.add(op.dx->data);
  last.add(shares.data());
  blocks.launch(ordinal, batch_norm_gradient_kernel, type, last);
}

}  // namespace tern::backend::cuda_kernels
