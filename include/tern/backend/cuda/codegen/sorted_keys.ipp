// The functions of sorted_keys.hpp that are not templates.
#pragma once
#include "sorted_keys.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE KeyStretches::KeyStretches(int ordinal, Index stretches, Index length)
    : ordinal_(ordinal), stretches_(stretches), stride_(length <= of_a_block ? padded_to_power(length) : length),
      count_(in_blocks() ? (stretches * stride_ + of_a_block - 1) / of_a_block * of_a_block : stretches * stride_),
      memory_(ordinal, std::size_t(8 * count_) * (in_blocks() ? 1 : 2)), keys_(memory_.data()) {}

TERN_NOINLINE void KeyStretches::sort(int first, int bits) {
  // The keys after the last stretch are sorted too, but never read.
  if (in_blocks())
    return launch_typed(ordinal_, sort_chunks_kernel, {}, {count_ / of_a_block}, {.keys = keys_, .stretch = stride_});
  char* const both = memory_.data();
  char* const other = keys_ == both ? both + 8 * count_ : both;
  keys_ = radix_sort(ordinal_, keys_, other, stretches_, stride_, first, bits);
}

TERN_INLINE SortedKeys::SortedKeys(int ordinal, Index sources, const char* to, const char* from, Index rows,
                                   Index left_out)
    : count_(sources), shift_(bits(sources)), keys_(ordinal, 1, sources) {
  if (sources >> 32 || rows >> (63 - shift_))
    Error::fail("cuda", {sources, " numbers of ", rows, " rows are too many to be sorted"});
  launch_typed(ordinal, make_keys_kernel, {}, grid_for(keys_.count()),
               {.sources = sources,
                .count = keys_.count(),
                .shift = shift_,
                .keys = keys_.data(),
                .to = to,
                .from = from,
                .rows = rows,
                .left_out = left_out});
  if (to) keys_.sort(int(shift_), int(bits(rows)));
}

}}}  // namespace tern::detail::backend::cuda_kernels
