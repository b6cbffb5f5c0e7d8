// The functions of packed_sequence.hpp that are not templates.
#pragma once
#include <algorithm>
#include <numeric>

#include "packed_sequence.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE std::vector<Index> longest_first(const std::vector<Index>& lengths) {
  std::vector<Index> order(lengths.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return lengths[std::size_t(a)] > lengths[std::size_t(b)]; });
  return order;
}

TERN_INLINE std::vector<Index> sizes_of_steps(const std::vector<Index>& lengths) {
  std::vector<Index> sizes;
  Index active = Index(lengths.size());
  for (Index t = 0;; ++t) {
    while (active > 0 && lengths[std::size_t(active - 1)] <= t) --active;
    if (active == 0) return sizes;
    sizes.push_back(active);
  }
}

TERN_INLINE void check_lengths(const CallSite& op, const std::vector<Index>& lengths, Index longest, Index count,
                               bool enforce_sorted) {
  if (Index(lengths.size()) != count) Error::fail(op, {Index(lengths.size()), " lengths for ", count, " sequences"});
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1 || lengths[i] > longest)
      Error::fail(op, {"length ", lengths[i], " of sequence ", Index(i), " is not between 1 and ", longest});
    if (enforce_sorted && i > 0 && lengths[i] > lengths[i - 1])
      Error::fail(op, {"sequence ", Index(i), " is longer than the one before it, ", lengths[i], " than ",
                       lengths[i - 1], "; sort them, or set enforce_sorted = false"});
  }
}

TERN_INLINE std::vector<Index> padded_rows(const std::vector<Index>& batch_sizes, Index sequences) {
  std::vector<Index> rows;
  for (std::size_t t = 0; t < batch_sizes.size(); ++t)
    for (Index n = 0; n < batch_sizes[t]; ++n) rows.push_back(Index(t) * sequences + n);
  return rows;
}

TERN_INLINE std::vector<Index> packed_rows(const std::vector<Index>& batch_sizes, Index length,
                                           const std::vector<Index>& places) {
  const Index padding = std::accumulate(batch_sizes.begin(), batch_sizes.end(), Index(0));
  std::vector<Index> rows;
  Index first = 0;
  for (Index t = 0; t < length; ++t) {
    const Index active = t < Index(batch_sizes.size()) ? batch_sizes[std::size_t(t)] : 0;
    for (const Index place : places) rows.push_back(place < active ? first + place : padding);
    first += active;
  }
  return rows;
}

TERN_INLINE std::vector<Index> inverse(const std::vector<Index>& places) {
  std::vector<Index> where(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) where[std::size_t(places[i])] = Index(i);
  return where;
}

}}}  // namespace tern::detail
