// Work done ahead by threads: what the loader stands on, and the only part of it that knows threads. Plain POSIX
// threads, because <thread> and <condition_variable> together cost a trainer a tenth of a second to compile.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <pthread.h>

#include <exception>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/parallel.hpp"

namespace tern::inline TERN_BUILD::data::detail {

/// Threads that make items 0, 1, … count - 1, each in one of a few slots, and one consumer that takes them in order.
class Prefetcher {
 public:
  /// Makes an item and leaves it in a slot. Threads call it, at most one for a slot.
  using Make = void (*)(void* context, Index item, Index slot);

  /// Without workers every item is made by next().
  [[gnu::cold]] Prefetcher(Make make, void* context, Index count, int workers, Index slots)
      : make_(make), context_(context), count_(count), slots_(std::size_t(slots)), threads_(std::size_t(workers)) {
    for (; started_ < workers; ++started_)
      if (pthread_create(&threads_[std::size_t(started_)], nullptr, &Prefetcher::enter, this) != 0) {
        stop();
        fail("loader", {"the system gives no more threads: worker ", started_ + 1, " of ", workers, " cannot start"});
      }
  }
  [[gnu::cold]] ~Prefetcher() {
    stop();
    pthread_cond_destroy(&made_);
    pthread_cond_destroy(&room_);
    pthread_mutex_destroy(&mutex_);
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Waits for the next item and returns its slot, which is the caller's until release(). Throws what making it threw.
  /// An item that no worker has begun is made here, which takes less time than to wake one.
  [[gnu::noinline]] Index next(double& seconds_waited) {
    const Index index = taken_ % Index(slots_.size());
    Slot& slot = slots_[std::size_t(index)];
    const double start = now();
    {
      const Lock lock(mutex_);
      if (begun_ > taken_) {
        while (!slot.ready) pthread_cond_wait(&made_, &mutex_);
        seconds_waited += now() - start;
        slot.ready = false;
        if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
        return index;
      }
      ++begun_;
    }
    make_(context_, taken_, index);
    seconds_waited += now() - start;
    return index;
  }

  /// Gives the slot of the last item back. A sleeping worker is woken only when half of the slots are free: then it has
  /// several items to make, and short ones do not cost a switch of threads each.
  void release() {
    const Lock lock(mutex_);
    ++taken_;
    if (sleeping_ > 0 && 2 * (begun_ - taken_) <= Index(slots_.size())) pthread_cond_signal(&room_);
  }

 private:
  struct Slot {
    std::exception_ptr error;
    bool ready = false;
  };

  struct Lock {
    pthread_mutex_t& mutex;
    explicit Lock(pthread_mutex_t& m) : mutex(m) { pthread_mutex_lock(&mutex); }
    ~Lock() { pthread_mutex_unlock(&mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };

  static void* enter(void* self) {
    const SerialRegion serial;  // the pool of threads belongs to what trains
    static_cast<Prefetcher*>(self)->work();
    return nullptr;
  }

  void work() {
    const Lock lock(mutex_);
    for (;;) {
      while (!stopped_ && begun_ < count_ && begun_ - taken_ == Index(slots_.size())) {
        ++sleeping_;
        pthread_cond_wait(&room_, &mutex_);
        --sleeping_;
      }
      if (stopped_ || begun_ == count_) return;
      const Index item = begun_++, index = item % Index(slots_.size());
      Slot& slot = slots_[std::size_t(index)];
      pthread_mutex_unlock(&mutex_);
      try {
        make_(context_, item, index);
      } catch (...) {
        slot.error = std::current_exception();
      }
      pthread_mutex_lock(&mutex_);
      slot.ready = true;
      if (item == taken_) pthread_cond_signal(&made_);
    }
  }

  [[gnu::noinline, gnu::cold]] void stop() {
    {
      const Lock lock(mutex_);
      stopped_ = true;
      pthread_cond_broadcast(&room_);
    }
    for (int i = 0; i < started_; ++i) pthread_join(threads_[std::size_t(i)], nullptr);
  }

  const Make make_;
  void* const context_;
  const Index count_;
  std::vector<Slot> slots_;
  std::vector<pthread_t> threads_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t made_ = PTHREAD_COND_INITIALIZER;  // the item that the consumer waits for is ready
  pthread_cond_t room_ = PTHREAD_COND_INITIALIZER;  // slots are free, or it is time to stop
  Index begun_ = 0, taken_ = 0;                     // items, from the front
  int started_ = 0;                                 // workers
  int sleeping_ = 0;                                // workers that wait for room
  bool stopped_ = false;
};

}  // namespace tern::data::detail
