// The functions of samplers.hpp that are not templates.
#pragma once
#include "samplers.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_NOINLINE std::vector<Index> in_sequence(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[std::size_t(i)] = i;
  return order;
}

TERN_NOINLINE void shuffle(std::vector<Index>& order, Random& random) {
  for (Index i = Index(order.size()); i-- > 1;)
    std::swap(order[std::size_t(i)], order[std::size_t(random.below(i + 1))]);
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE std::vector<Index> RandomSampler::order(std::uint64_t seed, Index epoch) const {
  Random random(seed, epoch);
  std::vector<Index> order;
  while (Index(order.size()) < count_) {
    if (replacement_) {
      order.push_back(random.below(size_));
      continue;
    }
    std::vector<Index> all = detail::in_sequence(size_);
    detail::shuffle(all, random);
    all.resize(std::size_t(std::min(size_, count_ - Index(order.size()))));
    order.insert(order.end(), all.begin(), all.end());
  }
  return order;
}

TERN_NOINLINE std::vector<Index> SubsetRandomSampler::order(std::uint64_t seed, Index epoch) const {
  Random random(seed, epoch);
  std::vector<Index> order = indices_;
  detail::shuffle(order, random);
  return order;
}

TERN_NOINLINE WeightedRandomSampler::WeightedRandomSampler(const std::vector<double>& weights, Index num_samples,
                                                           bool replacement, CallSite here)
    : weights_(weights), sums_(weights), count_(num_samples), replacement_(replacement) {
  const CallScope scope(here);
  double sum = 0;
  Index positive = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] < HUGE_VAL))
      Error::fail("WeightedRandomSampler",
                  {"weight ", Index(i), " is ", weights[i], "; weights must be finite and not negative"});
    sums_[i] = sum += weights[i];
    positive += weights[i] > 0;
  }
  if (num_samples < 1) Error::fail("WeightedRandomSampler", {"num_samples must be at least 1, not ", num_samples});
  if (positive < (replacement ? 1 : num_samples))
    Error::fail("WeightedRandomSampler", {positive, " samples have a positive weight, too few to draw ", num_samples,
                                          replacement ? "" : " without replacement"});
}

TERN_NOINLINE std::vector<Index> WeightedRandomSampler::order(std::uint64_t seed, Index epoch) const {
  Random random(seed, epoch);
  std::vector<Index> order;
  if (replacement_) {
    for (Index i = 0; i < count_; ++i) {
      double place;
      do place = random.uniform_double() * sums_.back();
      while (place >= sums_.back());  // again if rounding put it at the end
      order.push_back(std::upper_bound(sums_.begin(), sums_.end(), place) - sums_.begin());
    }
    return order;
  }
  std::vector<double> arrival(weights_.size());
  for (std::size_t i = 0; i < arrival.size(); ++i) arrival[i] = -std::log(1 - random.uniform_double()) / weights_[i];
  for (Index i = 0; i < Index(arrival.size()); ++i)
    if (weights_[std::size_t(i)] > 0) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return arrival[std::size_t(a)] < arrival[std::size_t(b)]; });
  order.resize(std::size_t(count_));
  return order;
}

TERN_NOINLINE std::vector<Index> LengthSampler::order(std::uint64_t seed, Index epoch) const {
  Random random(seed, epoch);
  std::vector<Index> all = detail::in_sequence(size()), order;
  detail::shuffle(all, random);
  const Index full = size() / batch_size_;
  for (Index first = 0; first < full; first += pool_) {
    const auto begin = all.begin() + first * batch_size_;
    std::sort(begin, begin + std::min(pool_, full - first) * batch_size_, [&](Index a, Index b) {
      const Index x = lengths_[std::size_t(a)], y = lengths_[std::size_t(b)];
      return x != y ? x < y : a < b;
    });
  }
  std::vector<Index> batches = detail::in_sequence(full);
  detail::shuffle(batches, random);
  for (const Index batch : batches)
    order.insert(order.end(), all.begin() + batch * batch_size_, all.begin() + (batch + 1) * batch_size_);
  order.insert(order.end(), all.begin() + full * batch_size_, all.end());
  return order;
}

TERN_COLD DistributedSampler::DistributedSampler(Index size, const DistributedSamplerOptions& options, CallSite here)
    : size_(size), options_(options) {
  const CallScope scope(here);
  if (size < 0) Error::fail("DistributedSampler", {"the number of samples must not be negative: ", size});
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    Error::fail("DistributedSampler",
                {"rank must be one of at least 1 ranks, not ", options.rank, " of ", options.ranks});
  const Index more = size % options.ranks;  // that some ranks have and others lack
  const bool has_one_more = options.pad ? more != 0 : options.rank < more;
  count_ = size / options.ranks + (!options.drop_last && has_one_more);
}

TERN_NOINLINE std::vector<Index> DistributedSampler::order(std::uint64_t seed, Index epoch) const {
  const std::vector<Index> all = detail::epoch_order(size_, options_.shuffle, seed, epoch);
  std::vector<Index> order;
  for (Index i = 0; i < count_; ++i) order.push_back(all[std::size_t((options_.rank + i * options_.ranks) % size_)]);
  return order;
}

}}}  // namespace tern::data
