// loader<D>(set, options): the batches of a data set, made ahead of time by worker threads.
#pragma once
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "../core/options.hpp"
#include "../core/random.hpp"
#include "../tensor/pending.hpp"
#include "dataset.hpp"
#include "epoch_order.hpp"
#include "prefetch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct LoaderOptions {
  tern::detail::ByName by_name{};
  Index batch_size = 1;
  bool shuffle = false;     ///< a new order in each epoch
  int num_workers = 2;      ///< threads that make batches; 0: the calling thread makes them
  bool drop_last = false;   ///< leave out the last batch if it is not full
  int prefetch_factor = 2;  ///< batches made ahead by each worker
  /// Of orders and transforms; results do not depend on the workers. Without one, each epoch that needs one draws it
  /// from the random state.
  std::optional<std::uint64_t> seed = {};
};

/// Where a loader is: a loop has been given so many batches of that epoch, whose order depends on the seed. Of a loader
/// without a seed of its own it is what that epoch drew.
struct LoaderState {
  Index epoch = 0, batch = 0;
  std::uint64_t seed = 0;
};

namespace detail {

TERN_API void check(const LoaderOptions& options);

/// Error unless an epoch of so many batches has that place.
TERN_API void check(const LoaderState& state, Index batches);

inline std::size_t slot_count(const LoaderOptions& options) {
  return options.num_workers ? std::size_t(options.num_workers) * std::size_t(options.prefetch_factor) : 1;
}

/// Error if a sampler's order is not of the length that it has said, or names a sample that does not exist.
TERN_API void check_order(const std::vector<Index>& order, Index length, Index size);

/// A batch on its way to a device. Workers start the copies, so that the training thread does not wait for them.
template <Device D, class... T>
auto start_moving(std::tuple<Tensor<Cpu, T>...> batch, [[maybe_unused]] D device) {
  if constexpr (std::is_same_v<D, Cpu>) return batch;
  else
    return std::apply(
        [&](const auto&... x) {
          if constexpr (tern::detail::AsyncDevice<D>)
            return std::tuple(tern::detail::start_copy_to_device("loader", x, device)...);
          else return std::tuple(x.to(device)...);
        },
        batch);
}
/// The batch after its copies. Work that the device does later sees the data.
template <Device D, class Batch>
auto finish_moving(Batch&& batch) {
  if constexpr (tern::detail::AsyncDevice<D>)
    return std::apply([](auto&... x) { return std::tuple(x.wait()...); }, batch);
  else return std::move(batch);
}

}  // namespace detail

/// Chooses the samples of an epoch and their order, a list of size() numbers. Both depend only on seed and epoch. With
/// needs_seed(), true where ranks divide an order, the loader must have a seed: the ranks' random states may differ.
template <class S>
concept Sampler = requires(const S& sampler, std::uint64_t seed, Index epoch) {
  { sampler.size() } -> std::convertible_to<Index>;
  { sampler.order(seed, epoch) } -> std::convertible_to<std::vector<Index>>;
};

/// All samples once, in the order given by LoaderOptions.
struct ByOptions {};

/// The batches of a data set. `for (auto& [x, y] : loader)` is one epoch. The loader does not write to a batch again.
template <Device D, class Set, class Samples = ByOptions>
class Loader {
 public:
  using Moving = decltype(detail::start_moving(std::declval<BatchOf<std::remove_cvref_t<Set>>>(), std::declval<D>()));
  using Batch = decltype(detail::finish_moving<D>(std::declval<Moving>()));

  Loader(Set&& set, const LoaderOptions& options, const Samples& samples = {}, CallSite here = {})
      : here_(here), set_(std::forward<Set>(set)), options_(options), seed_(options.seed), samples_(samples) {
    const CallScope scope(here);
    detail::check(options_);
    if (options_.shuffle && !std::is_same_v<Samples, ByOptions>)
      Error::fail("loader", {"a sampler and shuffle exclude each other"});
    if constexpr (requires { samples_.needs_seed(); }) {
      if (!options_.seed && samples_.needs_seed())
        Error::fail("loader", {"ranks that divide an order need a seed, the same on all: {.seed = 1}"});
    }
  }

  /// The number of batches in an epoch.
  Index size() const {
    const Index n = sample_count(), b = options_.batch_size;
    return n / b + (!options_.drop_last && n % b != 0);
  }
  Index batch_size() const { return options_.batch_size; }
  /// The number of samples in an epoch.
  Index samples() const { return options_.drop_last ? size() * batch_size() : sample_count(); }
  /// Sets the number of the next epoch; the first is 0. A resumed training then gets the same orders. Where the options
  /// have no seed, the orders come from the random state alone.
  void set_epoch(Index epoch) {
    if (epoch != epoch_) first_ = 0;
    epoch_ = epoch;
  }
  /// The number of the epoch that a loop is in, else of the next one.
  Index epoch() const { return state().epoch; }
  /// Inside a loop where it is, else where the next one starts.
  LoaderState state() const {
    const std::uint64_t seed = seed_.value_or(drawn_);
    return given_ ? LoaderState{epoch_ - 1, given_, seed} : LoaderState{epoch_, first_, seed};
  }
  /// Outside of loops: the next one goes on where the state was asked for, with the rest of that epoch. Error, and
  /// nothing changed, if the epoch has fewer batches.
  void set_state(const LoaderState& state, CallSite here = {}) {
    const CallScope scope(here);
    check(state);
    epoch_ = state.epoch, first_ = state.batch;
    (seed_ ? *seed_ : drawn_) = state.seed;
  }
  /// Error unless set_state() takes the state.
  void check(const LoaderState& state, CallSite here = {}) const {
    const CallScope scope(here);
    detail::check(state, size());
  }
  /// The time that loops over this loader have waited for batches so far, in seconds.
  double seconds_waited() const { return seconds_waited_; }

  /// An epoch in progress. Its destruction, early or not, stops the workers. An exception ends it. It must not outlive
  /// the loader, so that a temporary loader has no begin(), unless a loop keeps it.
  class Epoch {
   public:
    explicit Epoch(Loader& loader)
        : loader_(loader), key_(loader.next_key()), first_(std::exchange(loader.first_, 0)), order_(loader.order(key_)),
          remaining_(loader.size() - first_), slots_(detail::slot_count(loader.options_)),
          draws_(slots_.size(), first_ > 0),
          prefetcher_(&Epoch::make, this, remaining_, loader.options_.num_workers, Index(slots_.size())) {
      take();
      loader.given_ += first_;
    }
    ~Epoch() { loader_.given_ = 0; }

    Batch& operator*() { return batch_; }
    void operator++() {
      if (remaining_ == 0) return;
      --remaining_;
      take();
    }
    friend bool operator==(const Epoch& epoch, std::default_sentinel_t) { return epoch.remaining_ == 0; }

   private:
    static void make(void* epoch, Index number, Index slot) {
      auto& self = *static_cast<Epoch*>(epoch);
      const CallScope scope(self.loader_.here_);
      const Index batch_size = self.loader_.options_.batch_size, first = (self.first_ + number) * batch_size;
      const Index left = Index(self.order_.size()) - first;
      const std::span<const Index> samples(self.order_.data() + first,
                                           std::size_t(left < batch_size ? left : batch_size));
      RandomKey key = self.key_;
      key.place = first;
      const tern::detail::OwnRandomScope random(detail::batch_state(key));
      self.slots_[std::size_t(slot)].emplace(
          detail::start_moving(batch_of(self.loader_.set(), samples, key), self.loader_.device_));
      self.draws_.made(std::size_t(slot), random);
    }

    void take() {
      if (remaining_ == 0) return;
      const Index remaining = std::exchange(remaining_, 0);  // it stays 0 if making the batch has thrown
      const auto at = std::size_t(prefetcher_.next(loader_.seconds_waited_));
      batch_ = detail::finish_moving<D>(std::move(*slots_[at]));
      slots_[at].reset();
      if (!loader_.seed_) draws_.taken(at);
      prefetcher_.release();
      remaining_ = remaining;
      ++loader_.given_;
    }

    Loader& loader_;
    const RandomKey key_;
    const Index first_;  // the number of the batch that the loop starts with
    const std::vector<Index> order_;
    Index remaining_;
    Batch batch_;
    std::vector<std::optional<Moving>> slots_;
    detail::EpochDraws draws_;
    detail::Prefetcher
        prefetcher_;  // the last member, because its destructor stops the workers, which write to the others
  };

  Epoch begin() & { return Epoch(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  /// True if orders or batches depend on the seed. Other loaders leave the random state as it is: ranks of which one
  /// alone tests stay in step.
  bool draws() const {
    return options_.shuffle || !std::is_same_v<Samples, ByOptions> || RandomDataset<std::remove_cvref_t<Set>>;
  }
  RandomKey next_key() {
    const Index epoch = epoch_++;
    if (seed_) return {*seed_, epoch};
    const bool is_random = draws();
    if (first_ == 0)  // else the epoch has drawn before its state was asked for
      drawn_ = is_random ? tern::detail::next_seed() : tern::detail::peeked_seed();
    return {drawn_, is_random ? 0 : epoch};
  }
  Index sample_count() const {
    if constexpr (std::is_same_v<Samples, ByOptions>) return set().size();
    else return samples_.size();
  }
  std::vector<Index> order(const RandomKey& key) const {
    const CallScope scope(here_);
    return tern::detail::within_memory("loader", "the order of the samples", [&] {
      if constexpr (std::is_same_v<Samples, ByOptions>)
        return detail::epoch_order(set().size(), options_.shuffle, key.seed, key.epoch);
      else {
        std::vector<Index> order = samples_.order(key.seed, key.epoch);
        detail::check_order(order, samples_.size(), set().size());
        return order;
      }
    });
  }

  auto& set() { return std::get<0>(set_); }
  const auto& set() const { return std::get<0>(set_); }

  CallSite here_;        // of what made it
  std::tuple<Set> set_;  // for a member that is a reference, g++ 13 warns at each loop over loader(...)
  LoaderOptions options_;
  std::optional<std::uint64_t> seed_;
  std::uint64_t drawn_ = 0;  // without a seed_: that of the epoch
  [[no_unique_address]] Samples samples_;
  D device_ = tern::detail::current_device<D>();  // the current device of the thread that made the loader
  Index epoch_ = 0, first_ = 0;                   // where the next loop starts
  Index given_ = 0;                               // batches of the epoch that a loop is in; 0 outside
  double seconds_waited_ = 0;
};

/// Batches of the set's samples on device D. A set that is a variable must outlive the loader; a temporary is moved
/// into it.
template <Device D, class Set>
  requires Dataset<std::remove_cvref_t<Set>>
Loader<D, Set> loader(Set&& set, const LoaderOptions& options = {}, CallSite here = {}) {
  return Loader<D, Set>(std::forward<Set>(set), options, {}, here);
}

/// The same with PyTorch's positional arguments: `loader<Cpu>(set, 64, true)`.
template <Device D, class Set>
  requires Dataset<std::remove_cvref_t<Set>>
Loader<D, Set> loader(Set&& set, tern::detail::Positional<Index> batch_size,
                      tern::detail::Positional<bool> shuffle = false, CallSite here = {}) {
  return loader<D>(std::forward<Set>(set), {.batch_size = batch_size, .shuffle = shuffle}, here);
}

/// The same, with samples chosen by a sampler (samplers.hpp).
template <Device D, class Set, Sampler S>
  requires Dataset<std::remove_cvref_t<Set>>
Loader<D, Set, S> loader(Set&& set, const LoaderOptions& options, const S& sampler, CallSite here = {}) {
  return Loader<D, Set, S>(std::forward<Set>(set), options, sampler, here);
}

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "loader.ipp"
#endif
