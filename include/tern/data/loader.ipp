// The functions of loader.hpp that are not templates.
#pragma once
#include "loader.hpp"

namespace tern::inline TERN_BUILD::data::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void check(const LoaderOptions& options) {
  if (options.batch_size < 1) fail("loader", {"batch_size must be at least 1, not ", options.batch_size});
  if (options.workers < 0) fail("loader", {"workers must not be negative: ", options.workers});
  if (options.prefetch < 1) fail("loader", {"prefetch must be at least 1, not ", options.prefetch});
  constexpr Index most_ahead = 1'000'000;
  if (Index(options.workers) * options.prefetch > most_ahead)
    fail("loader", {options.workers, " workers with ", options.prefetch, " batches each are more than ", most_ahead, " batches"});
}

[[gnu::noinline]] TERN_INLINE void check_order(const std::vector<Index>& order, Index size) {
  for (const Index sample : order)
    if (sample < 0 || sample >= size) fail("loader", {"the sampler names sample ", sample, " of ", size});
}

[[gnu::noinline]] TERN_INLINE std::vector<Index> epoch_order(Index size, const LoaderOptions& options, Index epoch) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) order[std::size_t(i)] = i;
  if (!options.shuffle) return order;
  constexpr std::uint64_t shuffles = std::uint64_t(1) << 63;  // tensor operations do not draw from these streams
  for (Index i = size; i-- > 1;) {
    const RandomWords random = philox(options.seed, shuffles | std::uint64_t(epoch), std::uint64_t(i));
    // Uses the upper half of word * (i + 1). With 64 random bits, the probabilities of two choices differ by at most i
    // in 2^64.
    __extension__ typedef unsigned __int128 Wide;
    const Wide word = std::uint64_t(random.word[0]) << 32 | random.word[1];
    std::swap(order[std::size_t(i)], order[std::size_t(word * Wide(i + 1) >> 64)]);
  }
  return order;
}

}  // namespace tern::data::detail
