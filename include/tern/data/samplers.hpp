// Samplers choose the samples of an epoch and their order. loader<D>(set, options, sampler) uses one.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "../core/options.hpp"
#include "../tensor/tensor.hpp"
#include "epoch_order.hpp"
#include "random_key.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// 0, …, n - 1.
TERN_API std::vector<Index> in_sequence(Index n);

/// Fisher-Yates.
TERN_API void shuffle(std::vector<Index>& order, Random& random);

/// The numbers in a std::vector, or in a tensor [N], as another type.
template <class To, class Number>
std::vector<To> numbers_of(const CallSite&, const std::vector<Number>& x) {
  std::vector<To> out;
  for (const Number value : x) out.push_back(static_cast<To>(value));
  return out;
}
template <class To, Element T>
std::vector<To> numbers_of(const CallSite& op, const Tensor<Cpu, T>& x) {
  if (x.checked(op)->ndim != 1) Error::fail(op, {"a tensor of numbers is [N], not ", x.shape()});
  std::vector<To> out;
  for (Index i = 0; i < x.numel(); ++i) out.push_back(static_cast<To>(x.data()[i * x.stride(0)]));
  return out;
}

}  // namespace detail

/// All samples in order.
class SequentialSampler {
 public:
  explicit SequentialSampler(Index size) : size_(size) {}
  Index size() const { return size_; }
  std::vector<Index> order(std::uint64_t, Index) const { return detail::in_sequence(size_); }

 private:
  Index size_;
};

struct RandomSamplerOptions {
  tern::detail::ByName by_name{};
  bool replacement = false;  ///< a sample may come again before all have come
  Index num_samples = -1;    ///< samples of an epoch; -1: as many as there are
};

/// Samples drawn uniformly.
class TERN_API RandomSampler {
 public:
  explicit RandomSampler(Index size, const RandomSamplerOptions& options = {}, CallSite here = {})
      : size_(size), count_(options.num_samples < 0 ? size : options.num_samples), replacement_(options.replacement) {
    const CallScope scope(here);
    if (size < 1 && count_ > 0) Error::fail("RandomSampler", {"there are no samples to draw from"});
  }
  RandomSampler(Index size, tern::detail::Positional<bool> replacement,
                tern::detail::Positional<Index> num_samples = Index(-1), CallSite here = {})
      : RandomSampler(size, {.replacement = replacement, .num_samples = num_samples}, here) {}
  Index size() const { return count_; }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  Index size_, count_;
  bool replacement_;
};

/// The samples of a list, in random order.
class TERN_API SubsetRandomSampler {
 public:
  explicit SubsetRandomSampler(std::vector<Index> indices) : indices_(std::move(indices)) {}
  /// Of numbers of another type, or of a tensor [N].
  template <class Indices>
    requires requires(const Indices& indices) { detail::numbers_of<Index>(CallSite::unknown, indices); }
  explicit SubsetRandomSampler(const Indices& indices, CallSite here = {})
      : indices_(detail::numbers_of<Index>({"SubsetRandomSampler", here}, indices)) {}
  Index size() const { return Index(indices_.size()); }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  std::vector<Index> indices_;
};

/// Samples drawn with probabilities proportional to their weights. Without replacement, each draw is from the remaining
/// samples (implemented by the smallest of exponential variables: Efraimidis, Spirakis: "Weighted random sampling with
/// a reservoir", 2006).
class TERN_API WeightedRandomSampler {
 public:
  WeightedRandomSampler(const std::vector<double>& weights, Index num_samples, bool replacement = true,
                        CallSite here = {});
  /// Of numbers of another type, or of a tensor [N].
  template <class Weights>
    requires requires(const Weights& weights) { detail::numbers_of<double>(CallSite::unknown, weights); }
  WeightedRandomSampler(const Weights& weights, Index num_samples, bool replacement = true, CallSite here = {})
      : WeightedRandomSampler(detail::numbers_of<double>({"WeightedRandomSampler", here}, weights), num_samples,
                              replacement, here) {}
  Index size() const { return count_; }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  std::vector<double> weights_, sums_;
  Index count_;
  bool replacement_;
};

/// Batches of samples with similar lengths, so that little padding is needed. It takes the samples of `pool` random
/// batches, sorts them by length, cuts them into batches and shuffles these. The loader's batch_size must be the same.
/// A last batch that is not full comes last.
class TERN_API LengthSampler {
 public:
  LengthSampler(const std::vector<Index>& lengths, Index batch_size, Index pool = 100, CallSite here = {})
      : lengths_(lengths), batch_size_(batch_size), pool_(pool) {
    const CallScope scope(here);
    if (batch_size < 1) Error::fail("LengthSampler", {"batch_size must be at least 1, not ", batch_size});
    if (pool < 1) Error::fail("LengthSampler", {"pool must be at least 1, not ", pool});
  }
  Index size() const { return Index(lengths_.size()); }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  std::vector<Index> lengths_;
  Index batch_size_, pool_;
};

struct DistributedSamplerOptions {
  Index rank = 0;   ///< of the process,
  Index ranks = 1;  ///< of so many that share the samples
  bool shuffle = true;
  bool drop_last =
      false;  ///< leave out the samples that give some ranks more than others, instead of taking the first ones twice
  bool pad = true;  ///< false: neither, so that each sample comes once and some ranks have one more. For tests, not for
                    ///< training
};

/// Every ranks-th sample of an order that all ranks have, so that all have as many:
/// torch.utils.data.DistributedSampler. Each rank's loader must have the same seed. The order is the one of a loader
/// that shuffles: the ranks' n-th batches are one of its batches.
///
///   loader<Cpu>(set, {.batch_size = 32, .seed = 1},
///               DistributedSampler(set.size(), {.rank = world.rank(), .ranks = world.size()}));
class TERN_API DistributedSampler {
 public:
  explicit DistributedSampler(Index size, const DistributedSamplerOptions& options = {}, CallSite here = {});
  Index size() const { return count_; }
  bool needs_seed() const { return options_.shuffle && options_.ranks > 1; }
  std::vector<Index> order(std::uint64_t seed, Index epoch) const;

 private:
  Index size_, count_;
  DistributedSamplerOptions options_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "samplers.ipp"
#endif
