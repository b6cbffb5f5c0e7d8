// The functions of loader.hpp that are not templates.
#pragma once
#include "loader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD void check(const LoaderOptions& options) {
  if (options.batch_size < 1) Error::fail("loader", {"batch_size must be at least 1, not ", options.batch_size});
  if (options.num_workers < 0) Error::fail("loader", {"num_workers must not be negative: ", options.num_workers});
  if (options.prefetch_factor < 1)
    Error::fail("loader", {"prefetch_factor must be at least 1, not ", options.prefetch_factor});
  constexpr Index most_ahead = 1'000'000;
  if (Index(options.num_workers) * options.prefetch_factor > most_ahead)
    Error::fail("loader", {options.num_workers, " workers with ", options.prefetch_factor,
                           " batches each are more than ", most_ahead, " batches"});
}

TERN_COLD void check(const LoaderState& state, Index batches) {
  if (state.epoch < 0 || state.batch < 0)
    Error::fail("loader", {"epochs and batches of a loader must not be negative: ", state.epoch, " and ", state.batch});
  if (state.batch > batches)
    Error::fail("loader", {"a loop had been given ", state.batch, " batches, but an epoch has ", batches});
}

TERN_NOINLINE void check_order(const std::vector<Index>& order, Index length, Index size) {
  if (Index(order.size()) != length)
    Error::fail("loader", {"the sampler's order names ", Index(order.size()), " samples, but its size() is ", length});
  for (const Index sample : order)
    if (sample < 0 || sample >= size) Error::fail("loader", {"the sampler names sample ", sample, " of ", size});
}

}}}  // namespace tern::data::detail
