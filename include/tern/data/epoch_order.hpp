// The order in which an epoch takes the samples of a data set.
#pragma once
#include <vector>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// 0, …, size - 1, or a permutation of it that seed and epoch determine (Fisher-Yates).
TERN_API std::vector<Index> epoch_order(Index size, bool shuffle, std::uint64_t seed, Index epoch);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "epoch_order.ipp"
#endif
