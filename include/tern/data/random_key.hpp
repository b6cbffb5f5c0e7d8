// The random numbers of a sample. They depend on seed and epoch, not on the thread.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Identifies the random numbers of a batch.
struct RandomKey {
  std::uint64_t seed;
  Index epoch;
  Index place = 0;  ///< position of the batch's first sample in the epoch, so that a sample that occurs twice gets
                    ///< different numbers
  int level = 0;    ///< nesting depth of data sets that draw random numbers; the outermost is 0

  RandomKey inner() const { return {seed, epoch, place, level + 1}; }
  /// For a batch that belongs to no epoch: the program's next random numbers.
  static RandomKey next() {
    const RandomState state = tern::detail::next_random();
    return {state.seed, Index(state.stream)};
  }
};

namespace detail {
/// What operations draw from while a batch is made, such as a randn() of a data set's. It depends on the batch alone,
/// not on the thread.
TERN_API RandomState batch_state(const RandomKey& key);

/// Whether operations have drawn while the batches of an epoch were made. The first batch that says so is a draw from
/// the program's random numbers, so that the next epoch has others.
class EpochDraws {
 public:
  /// An epoch that goes on where a checkpoint was made has been counted: that draw is in the checkpoint's random state.
  explicit EpochDraws(std::size_t slot_count, bool goes_on = false)
      : has_drawn_(slot_count, false), is_counted_(goes_on) {}
  void made(std::size_t slot, const tern::detail::OwnRandomScope& random) { has_drawn_[slot] = random.has_drawn(); }
  void taken(std::size_t slot) {
    if (has_drawn_[slot] && !std::exchange(is_counted_, true)) tern::detail::next_seed();
  }

 private:
  std::vector<char> has_drawn_;  // of each slot; threads write to them
  bool is_counted_;
};
}  // namespace detail

/// A sequence of random numbers (Philox).
class TERN_API Random {
 public:
  /// The numbers of sample `sample`, the i-th of the key's batch.
  Random(const RandomKey& key, Index i, Index sample)
      : seed_(key.seed),
        stream_(samples | (std::uint64_t(key.epoch) & 0xffffff) << 38 | (std::uint64_t(key.place + i) & 0x3fffffffff)),
        counter_(std::uint64_t(sample) << 24 | std::uint64_t(key.level & 15) << 20) {}

  /// The numbers for an epoch's order.
  Random(std::uint64_t seed, Index epoch) : seed_(seed), stream_(orders | std::uint64_t(epoch)), counter_(0) {}

  std::uint32_t word();
  /// A number in [0, 1).
  float uniform() { return tern::detail::unit_float(word()); }
  /// A number in [low, high).
  float uniform(float low, float high);
  /// A number in [0, 1) with 53 random bits.
  double uniform_double();
  /// True with probability p.
  bool chance(double p) { return uniform_double() < p; }
  /// One of 0, …, n - 1.
  Index below(Index n);
  /// A number with mean 0 and variance 1 (Box, Muller: "A note on the generation of random normal deviates", 1958).
  double normal();

 private:
  friend RandomState detail::batch_state(const RandomKey& key);

  // Tensor operations do not draw from these streams.
  static constexpr std::uint64_t samples = std::uint64_t(1) << 62, batches = std::uint64_t(2) << 62,
                                 orders = std::uint64_t(3) << 62;
  std::uint64_t seed_, stream_, counter_;
  tern::detail::RandomWords words_{};
  int left_ = 0;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "random_key.ipp"
#endif
