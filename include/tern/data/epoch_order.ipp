// The function of epoch_order.hpp, which is no template.
#pragma once
#include <utility>

#include "../core/random.hpp"
#include "epoch_order.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_NOINLINE std::vector<Index> epoch_order(Index size, bool shuffle, std::uint64_t seed, Index epoch) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) order[std::size_t(i)] = i;
  if (!shuffle) return order;
  constexpr std::uint64_t shuffles = std::uint64_t(1) << 63;  // tensor operations do not draw from these streams
  for (Index i = size; i-- > 1;) {
    const tern::detail::RandomWords random =
        tern::detail::philox(seed, shuffles | std::uint64_t(epoch), std::uint64_t(i));
    // Uses the upper half of word * (i + 1). With 64 random bits, the probabilities of two choices differ by at most i
    // in 2^64.
    __extension__ typedef unsigned __int128 Wide;
    const Wide word = std::uint64_t(random.word[0]) << 32 | random.word[1];
    std::swap(order[std::size_t(i)], order[std::size_t(word * Wide(i + 1) >> 64)]);
  }
  return order;
}

}}}  // namespace tern::data::detail
