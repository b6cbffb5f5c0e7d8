// What softmax.hpp declares and is no template.
#pragma once
#include "softmax.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_softmax(const Kernel& kernel, bool log, const Array& out, const Array& in, const Array* second,
                                               int dim) {
  const Array* const arrays[] = {&in, second};
  const int ordinal = common_ordinal(out, arrays, second ? 2 : 1);
  const RowsAlong rows(out, dim);
  if (out.numel == 0) return;
  const RowBlocks blocks(rows);
  Words words = blocks.words();
  for (const Index word : {rows.n, rows.inner, Index(log)}) words.add(word);
  words.add(out.data);
  words.add(in.data);
  if (second) words.add(second->data);
  blocks.launch(ordinal, kernel, {out.dtype}, words);
}

}  // namespace tern::backend::cuda_kernels
