// Work done ahead of time by threads, for the loaders. It uses POSIX threads, because <thread> and <condition_variable>
// together would add a tenth of a second to a trainer's compilation.
#pragma once
#include <pthread.h>

#include <exception>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/mutex_lock.hpp"
#include "../core/parallel.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// Threads that make items 0, 1, … count - 1, each in one of a few slots, and one consumer that takes them in order.
class TERN_API Prefetcher {
 public:
  /// Makes an item in a slot. Threads call it; no two at once use the same slot.
  using Make = void (*)(void* context, Index item, Index slot);

  /// Without workers, next() makes every item.
  Prefetcher(Make make, void* context, Index count, int workers, Index slot_count);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Waits for the next item and returns its slot, which belongs to the caller until release(). Throws what making the
  /// item threw; then there are no more. If no worker has begun the item, the caller makes it, which is faster than
  /// waking a worker.
  Index next(double& seconds_waited);

  /// Releases the slot of the last item. A sleeping worker is woken only when half of the slots are free. Then it has
  /// several items to make, so that short items do not cost a context switch each.
  void release() {
    const Lock lock(mutex_);
    ++taken_;
    if (sleeping_ > 0 && 2 * (begun_ - taken_) <= Index(slots_.size())) pthread_cond_signal(&space_);
  }

 private:
  struct Slot {
    std::exception_ptr error;
    bool ready = false;
  };

  using Lock = tern::detail::MutexLock;

  static void* enter(void* self) {
    const tern::detail::SerialRegion serial;  // the thread pool belongs to the training thread
    static_cast<Prefetcher*>(self)->work();
    return nullptr;
  }

  void work();
  void make_item(Index item, Index slot) const;

  void stop();

  const Make make_;
  void* const context_;
  const Index count_;
  std::vector<Slot> slots_;
  std::vector<pthread_t> threads_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t made_ = PTHREAD_COND_INITIALIZER;   // the item that the consumer waits for is ready
  pthread_cond_t space_ = PTHREAD_COND_INITIALIZER;  // slots are free, or the workers must stop
  Index begun_ = 0, taken_ = 0;                      // items, from the front
  int started_ = 0;                                  // workers
  int sleeping_ = 0;                                 // workers that wait for capacity
  bool stopped_ = false;
};

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "prefetch.ipp"
#endif
