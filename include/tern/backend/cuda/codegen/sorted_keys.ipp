// The functions of sorted_keys.hpp that are not templates.
#pragma once
#include "sorted_keys.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void sort_stretches(int ordinal, char* keys, Index count, Index stretch) {
  const auto chunks = [&](Index first, Index last) {
    launch_typed(ordinal, sort_chunks_kernel, {}, {count / 2048}, {.keys = keys, .first = first, .last = last, .stretch = stretch});
  };
  chunks(2, std::min<Index>(stretch, 2048));
  for (Index span = 4096; span <= stretch; span *= 2) {
    for (Index step = span / 2; step > 1024; step /= 2)
      launch_typed(ordinal, sort_step_kernel, {}, grid_for(count / 2),
                   {.keys = keys, .pairs = count / 2, .span = span, .step = step, .stretch = stretch});
    chunks(span, span);
  }
}

TERN_INLINE SortedKeys::SortedKeys(int ordinal, Index sources, const char* to, const char* from, Index rows, Index left_out)
    : count_(sources), shift_(bits(sources)), memory_(ordinal, std::size_t(8 * padded(sources, to))) {
  if (rows >> (63 - shift_)) fail("cuda", {sources, " numbers of ", rows, " rows are too many to be sorted"});
  const Index keys = padded(sources, to);
  launch_typed(ordinal, make_keys_kernel, {}, grid_for(keys),
               {.sources = sources,
                .count = keys,
                .shift = shift_,
                .keys = memory_.data(),
                .to = to,
                .from = from,
                .rows = rows,
                .left_out = left_out});
  if (to) sort_stretches(ordinal, memory_.data(), keys, keys);
}

}  // namespace tern::backend::cuda_kernels
