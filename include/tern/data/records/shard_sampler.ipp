// The functions of shard_sampler.hpp that are not templates.
#pragma once
#include "shard_sampler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD ShardSampler::ShardSampler(const std::vector<Index>& sizes, const ShardSamplerOptions& options, CallSite here)
    : options_(options) {
  const CallScope scope(here);
  if (options.ranks < 1) Error::fail("ShardSampler", {"ranks must be at least 1, not ", options.ranks});
  if (options.rank < 0 || options.rank >= options.ranks)
    Error::fail("ShardSampler", {"rank must be in [0, ", options.ranks, "), not ", options.rank});
  if (options.buffer < 1) Error::fail("ShardSampler", {"buffer must be at least 1, not ", options.buffer});
  const bool whole = Index(sizes.size()) % options.ranks == 0;
  if (!whole) stride_ = options.ranks;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) Error::fail("ShardSampler", {"a size must not be negative: ", sizes[i]});
    if (!whole || Index(i) % options.ranks == options.rank) shards_.push_back({all_, sizes[i]}), size_ += sizes[i];
    all_ += sizes[i];
  }
  if (!whole) size_ = (all_ + stride_ - 1 - options.rank) / stride_;
}

TERN_NOINLINE std::vector<Index> ShardSampler::order(std::uint64_t seed, Index epoch) const {
  Random random(seed, epoch);
  std::vector<Index> shards = detail::in_sequence(Index(shards_.size())), order, buffer;
  if (options_.shuffle) detail::shuffle(shards, random);
  order.reserve(std::size_t(size_));
  const auto draw = [&] {
    const std::size_t i = std::size_t(random.below(Index(buffer.size())));
    order.push_back(buffer[i]);
    buffer[i] = buffer.back();
    buffer.pop_back();
  };
  Index passed = 0;  // records of the shards so far, of which every stride-th is this rank's
  for (const Index shard : shards)
    for (Index i = 0; i < shards_[std::size_t(shard)].size; ++i) {
      if (stride_ > 1 && passed++ % stride_ != options_.rank) continue;
      const Index record = shards_[std::size_t(shard)].first + i;
      if (!options_.shuffle) {
        order.push_back(record);
        continue;
      }
      buffer.push_back(record);
      if (Index(buffer.size()) == options_.buffer) draw();
    }
  while (!buffer.empty()) draw();
  return order;
}

}}}  // namespace tern::data
