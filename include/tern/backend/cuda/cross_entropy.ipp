// What cross_entropy.hpp declares and is no template.
#pragma once
#include "cross_entropy.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_cross_entropy(const CrossEntropy& op) {
  const Array* const arrays[] = {&op.x, &op.target, op.weight};
  const int ordinal = common_ordinal(op.y, arrays, op.weight ? 3 : 2);
  const RowBlocks rows(RowsAlong(op.x, 1));
  const DType type = op.x.dtype;
  const Index count = op.target.numel, bytes = size_of(op.log_sum.dtype), blocks = std::min<Index>(count / 1024 + 1, 256);
  const cuda::detail::Scratch sums(ordinal, std::size_t(2 * count * bytes + blocks * 16));
  char *const losses = sums.data() + blocks * 16, *const weights = losses + count * bytes;
  const bool each = op.options.reduction == Reduction::none;
  Words words = class_row_words(op, rows);
  words.add(op.log_sum.data);
  words.add(losses);
  words.add(weights);
  words.add(each ? op.y.data : nullptr);
  words.add_report(ordinal, op.options.op, BadElement::target);
  rows.launch(ordinal, cross_entropy_kernel, {type}, words);

  Words adding;
  for (const Index word : {count, Index(0), Index(0)}) adding.add(word);
  adding.add(losses);
  adding.add(weights);
  adding.add(sums.data());
  launch_typed(ordinal, loss_sums_kernel, {type}, {blocks}, adding);
  Words finishing;
  for (const Index word : {Index(1), Index(256), Index(0)}) finishing.add(word);
  finishing.add(sums.data());
  finishing.add(blocks);
  finishing.add(each ? nullptr : op.y.data);
  finishing.add(op.total.data);
  finishing.add(Index(op.options.reduction == Reduction::mean));
  launch_typed(ordinal, loss_total_kernel, {type}, {1}, finishing);
}

[[gnu::noinline]] TERN_INLINE void run_cross_entropy_gradient(const CrossEntropyGradient& op) {
  const Array* const arrays[] = {&op.g, &op.x, &op.target, op.weight};
  const int ordinal = common_ordinal(op.dx, arrays, op.weight ? 4 : 3);
  const RowBlocks rows(RowsAlong(op.x, 1));
  Words words = class_row_words(op, rows);
  words.add(op.log_sum.data);
  words.add(op.total.data);
  words.add(op.g.data);
  words.add(op.dx.data);
  words.add(Index(op.options.reduction == Reduction::none));
  rows.launch(ordinal, cross_entropy_gradient_kernel, {op.x.dtype}, words);
}

}  // namespace tern::backend::cuda_kernels
