// Work done ahead by threads: what the loader stands on, and the only part of it that knows threads. Plain POSIX
// threads, because <thread> and <condition_variable> together cost a trainer a tenth of a second to compile.
#pragma once
#include <pthread.h>

#include <exception>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/parallel.hpp"

namespace tern::inline TERN_BUILD::data::detail {

/// Threads that make items 0, 1, … count - 1, each in one of a few slots, and one consumer that takes them in order.
class TERN_API Prefetcher {
 public:
  /// Makes an item and leaves it in a slot. Threads call it, at most one for a slot.
  using Make = void (*)(void* context, Index item, Index slot);

  /// Without workers every item is made by next().
  Prefetcher(Make make, void* context, Index count, int workers, Index slots);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Waits for the next item and returns its slot, which is the caller's until release(). Throws what making it threw.
  /// An item that no worker has begun is made here, which takes less time than to wake one.
  Index next(double& seconds_waited);

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

  void work();

  void stop();

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

#ifndef TERN_COMPILED
#include "prefetch.ipp"
#endif
