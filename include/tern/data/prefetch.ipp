// The functions of prefetch.hpp that are not templates.
#pragma once
#include "prefetch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD Prefetcher::Prefetcher(Make make, void* context, Index count, int workers, Index slot_count)
    : make_(make), context_(context), count_(count), slots_(std::size_t(slot_count)), threads_(std::size_t(workers)) {
  for (; started_ < workers; ++started_)
    if (pthread_create(&threads_[std::size_t(started_)], nullptr, &Prefetcher::enter, this) != 0) {
      stop();
      Error::fail("loader",
                  {"the system gives no more threads: worker ", started_ + 1, " of ", workers, " cannot start"});
    }
}

TERN_COLD Prefetcher::~Prefetcher() {
  stop();
  pthread_cond_destroy(&made_);
  pthread_cond_destroy(&space_);
  pthread_mutex_destroy(&mutex_);
}

TERN_NOINLINE Index Prefetcher::next(double& seconds_waited) {
  const Index index = taken_ % Index(slots_.size());
  Slot& slot = slots_[std::size_t(index)];
  const double start = tern::detail::now();
  {
    const Lock lock(mutex_);
    if (begun_ > taken_) {
      while (!slot.ready) pthread_cond_wait(&made_, &mutex_);
      seconds_waited += tern::detail::now() - start;
      slot.ready = false;
      if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
      return index;
    }
    ++begun_;
  }
  make_item(taken_, index);
  seconds_waited += tern::detail::now() - start;
  return index;
}

TERN_INLINE void Prefetcher::work() {
  const Lock lock(mutex_);
  for (;;) {
    while (!stopped_ && begun_ < count_ && begun_ - taken_ == Index(slots_.size())) {
      ++sleeping_;
      pthread_cond_wait(&space_, &mutex_);
      --sleeping_;
    }
    if (stopped_ || begun_ == count_) return;
    const Index item = begun_++, index = item % Index(slots_.size());
    Slot& slot = slots_[std::size_t(index)];
    pthread_mutex_unlock(&mutex_);
    try {
      make_item(item, index);
    } catch (...) { slot.error = std::current_exception(); }
    pthread_mutex_lock(&mutex_);
    slot.ready = true;
    if (item == taken_) pthread_cond_signal(&made_);
  }
}

TERN_NOINLINE void Prefetcher::make_item(Index item, Index slot) const {
  tern::detail::within_memory("loader", "a batch", [&] { make_(context_, item, slot); });
}

TERN_COLD void Prefetcher::stop() {
  {
    const Lock lock(mutex_);
    stopped_ = true;
    pthread_cond_broadcast(&space_);
  }
  for (int i = 0; i < started_; ++i) pthread_join(threads_[std::size_t(i)], nullptr);
}

}}}  // namespace tern::data::detail
