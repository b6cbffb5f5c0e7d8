// Iterable data sets: samples that come one after the other, in unknown number.
#pragma once
#include "collate.hpp"
#include "loader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// A range of samples, std::tuples of tensors and numbers. begin() starts it over. Only one thread at a time reads it.
template <class S>
concept IterableDataset = !Dataset<S> && requires(S& set, decltype(set.begin()) at) {
  *at;
  ++at;
  { at != set.end() } -> std::convertible_to<bool>;
};

namespace detail {

/// Admits threads in the order of their numbers: 0, 1, 2 …
class TicketLock {
 public:
  TicketLock() {}
  ~TicketLock() {
    pthread_cond_destroy(&over_);
    pthread_mutex_destroy(&mutex_);
  }
  TicketLock(const TicketLock&) = delete;
  TicketLock& operator=(const TicketLock&) = delete;

  /// Waits for the turn of a number, and ends the turn on destruction.
  class Guard {
   public:
    Guard(TicketLock& lock, Index number) : lock_(lock) {
      pthread_mutex_lock(&lock_.mutex_);
      while (lock_.next_ != number) pthread_cond_wait(&lock_.over_, &lock_.mutex_);
      pthread_mutex_unlock(&lock_.mutex_);
    }
    ~Guard() {
      pthread_mutex_lock(&lock_.mutex_);
      ++lock_.next_;
      pthread_cond_broadcast(&lock_.over_);
      pthread_mutex_unlock(&lock_.mutex_);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    TicketLock& lock_;
  };

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t over_ = PTHREAD_COND_INITIALIZER;
  Index next_ = 0;
};

}  // namespace detail

/// The batches of an iterable data set. One thread reads ahead, unless num_workers is 0.
template <Device D, class Set, class Collate>
class StreamLoader {
 public:
  using Iterator = decltype(std::declval<Set&>().begin());
  using End = decltype(std::declval<Set&>().end());
  using Sample = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
  using Moving = decltype(detail::start_moving(detail::as_tuple(std::declval<const Collate&>()(std::vector<Sample>())),
                                               std::declval<D>()));
  using Batch = decltype(detail::finish_moving<D>(std::declval<Moving>()));

  StreamLoader(Set&& set, const LoaderOptions& options, const Collate& collate, CallSite here = {})
      : here_(here), set_(std::forward<Set>(set)), options_(options), collate_(collate) {
    const CallScope scope(here);
    detail::check(options_);
    if (options_.shuffle) Error::fail("loader", {"an iterable data set comes in its own order; shuffle is for others"});
  }

  /// The time that loops over this loader have waited for batches so far, in seconds.
  double seconds_waited() const { return seconds_waited_; }

  /// One pass over the data set. An exception ends it. It must not outlive the loader.
  class Epoch {
   public:
    explicit Epoch(StreamLoader& loader)
        : loader_(loader), at_(std::get<0>(loader.set_).begin()), end_(std::get<0>(loader.set_).end()),
          slots_(std::size_t(loader.options_.num_workers ? loader.options_.prefetch_factor : 1)), draws_(slots_.size()),
          prefetcher_(&Epoch::make, this, INT64_MAX, loader.options_.num_workers ? 1 : 0, Index(slots_.size())) {
      take();
    }

    Batch& operator*() { return *batch_; }
    void operator++() {
      if (batch_) take();
    }
    friend bool operator==(const Epoch& epoch, std::default_sentinel_t) { return !epoch.batch_; }

   private:
    static void make(void* epoch, Index number, Index slot) {
      auto& self = *static_cast<Epoch*>(epoch);
      const CallScope scope(self.loader_.here_);
      const detail::TicketLock::Guard guard(self.lock_, number);
      if (self.ended_) return;
      self.ended_ = true;  // stays true if reading throws
      const LoaderOptions& options = self.loader_.options_;
      const tern::detail::OwnRandomScope random(detail::batch_state({self.seed_, 0, number}));
      std::vector<Sample> samples;
      for (; Index(samples.size()) < options.batch_size && self.at_ != self.end_; ++self.at_)
        samples.push_back(*self.at_);
      if (samples.empty() || (options.drop_last && Index(samples.size()) < options.batch_size)) return;
      self.slots_[std::size_t(slot)].emplace(
          detail::start_moving(detail::as_tuple(self.loader_.collate_(samples)), self.loader_.device_));
      self.draws_.made(std::size_t(slot), random);
      self.ended_ = false;
    }

    void take() {
      batch_.reset();
      const auto at = std::size_t(prefetcher_.next(loader_.seconds_waited_));
      if (slots_[at]) {
        batch_.emplace(detail::finish_moving<D>(std::move(*slots_[at])));
        draws_.taken(at);
      }
      slots_[at].reset();
      prefetcher_.release();
    }

    StreamLoader& loader_;
    Iterator at_;
    End end_;
    bool ended_ = false;
    std::optional<Batch> batch_;
    const std::uint64_t seed_ = tern::detail::peeked_seed();
    std::vector<std::optional<Moving>> slots_;
    detail::EpochDraws draws_;
    detail::TicketLock lock_;
    detail::Prefetcher
        prefetcher_;  // the last member, because its destructor stops the worker, which writes to the others
  };

  Epoch begin() & { return Epoch(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  CallSite here_;        // of what made it
  std::tuple<Set> set_;  // as in Loader
  LoaderOptions options_;
  Collate collate_;
  D device_ = tern::detail::current_device<D>();  // the current device of the thread that made the loader
  double seconds_waited_ = 0;
};

/// Batches of batch_size samples in the order of the range; the last one may be smaller. A variable must outlive the
/// loader; a temporary is moved into it.
template <Device D, class Set, class Collate = detail::DefaultCollate>
  requires IterableDataset<std::remove_reference_t<Set>>
StreamLoader<D, Set, Collate> loader(Set&& set, const LoaderOptions& options = {}, const Collate& collate = {},
                                     CallSite here = {}) {
  return StreamLoader<D, Set, Collate>(std::forward<Set>(set), options, collate, here);
}
template <Device D, class Set>
  requires IterableDataset<std::remove_reference_t<Set>>
StreamLoader<D, Set, detail::DefaultCollate> loader(Set&& set, tern::detail::Positional<Index> batch_size,
                                                    CallSite here = {}) {
  return loader<D>(std::forward<Set>(set), {.batch_size = batch_size}, detail::DefaultCollate(), here);
}

}}}  // namespace tern::data
