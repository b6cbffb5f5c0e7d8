// Samplers: which samples an epoch takes, and in which order. loader<D>(set, options, sampler) follows one.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <algorithm>
#include <cmath>
#include <vector>

#include "random_key.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

/// 0, …, n - 1.
[[gnu::noinline]] inline std::vector<Index> in_sequence(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[std::size_t(i)] = i;
  return order;
}

/// Fisher-Yates.
[[gnu::noinline]] inline void shuffle(std::vector<Index>& order, Random& random) {
  for (Index i = Index(order.size()); i-- > 1;)
    std::swap(order[std::size_t(i)], order[std::size_t(random.below(i + 1))]);
}

}  // namespace detail

/// All samples, one after the other.
class SequentialSampler {
 public:
  explicit SequentialSampler(Index size) : size_(size) {}
  Index size() const { return size_; }
  std::vector<Index> order(std::uint64_t, Index) const { return detail::in_sequence(size_); }

 private:
  Index size_;
};

struct RandomSamplerOptions {
  bool replacement = false;  ///< a sample may come again before all have come
  Index num_samples = -1;    ///< drawn in an epoch; -1: as many as there are
};

/// Samples drawn evenly.
class RandomSampler {
 public:
  explicit RandomSampler(Index size, const RandomSamplerOptions& options = {})
      : size_(size), count_(options.num_samples < 0 ? size : options.num_samples), replacement_(options.replacement) {
    if (size < 1 && count_ > 0) fail("RandomSampler", {"there are no samples to draw from"});
  }
  Index size() const { return count_; }
  [[gnu::noinline]] std::vector<Index> order(std::uint64_t seed, Index epoch) const {
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

 private:
  Index size_, count_;
  bool replacement_;
};

/// Samples drawn with probabilities in proportion to their weights. Without replacement each draw is from those left
/// (by the smallest of exponential variables: Efraimidis, Spirakis: "Weighted random sampling with a reservoir", 2006).
class WeightedRandomSampler {
 public:
  [[gnu::noinline]] WeightedRandomSampler(const std::vector<double>& weights, Index num_samples,
                                          bool replacement = true)
      : weights_(weights), sums_(weights), count_(num_samples), replacement_(replacement) {
    double sum = 0;
    Index positive = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] >= 0 && weights[i] < HUGE_VAL))
        fail("WeightedRandomSampler", {"weight ", Index(i), " is ", weights[i], "; weights must not be negative"});
      sums_[i] = sum += weights[i];
      positive += weights[i] > 0;
    }
    if (num_samples < 1) fail("WeightedRandomSampler", {"num_samples must be at least 1, not ", num_samples});
    if (positive < (replacement ? 1 : num_samples))
      fail("WeightedRandomSampler", {positive, " samples have a positive weight, too few to draw ", num_samples,
                                     replacement ? "" : " without replacement"});
  }
  Index size() const { return count_; }
  [[gnu::noinline]] std::vector<Index> order(std::uint64_t seed, Index epoch) const {
    Random random(seed, epoch);
    std::vector<Index> order;
    if (replacement_) {
      for (Index i = 0; i < count_; ++i) {
        double place;
        do place = random.uniform_double() * sums_.back();
        while (place >= sums_.back());  // rounded up
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

 private:
  std::vector<double> weights_, sums_;
  Index count_;
  bool replacement_;
};

/// Batches of samples of like lengths, so that little is padded: of each `pool` batches drawn at random the samples are
/// sorted by length, cut into batches, and these come in random order. The loader's batch_size must be the same; a last
/// batch that is not full comes last.
class LengthSampler {
 public:
  LengthSampler(const std::vector<Index>& lengths, Index batch_size, Index pool = 100)
      : lengths_(lengths), batch_size_(batch_size), pool_(pool) {
    if (batch_size < 1) fail("LengthSampler", {"batch_size must be at least 1, not ", batch_size});
    if (pool < 1) fail("LengthSampler", {"pool must be at least 1, not ", pool});
  }
  Index size() const { return Index(lengths_.size()); }
  [[gnu::noinline]] std::vector<Index> order(std::uint64_t seed, Index epoch) const {
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

 private:
  std::vector<Index> lengths_;
  Index batch_size_, pool_;
};

}  // namespace tern::data
