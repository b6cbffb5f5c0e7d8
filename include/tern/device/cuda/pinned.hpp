// Host memory that a device reads and writes itself, while the host goes on. Page-locking costs far more than a copy, so blocks are kept,
// and none is handed out again before the last copy from or to it is done.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "../async_copy.hpp"
#include "../memory.hpp"
#include "copy.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// Copies of one device from or to a block.
struct PinnedUse {
  int ordinal;
  ScopedEvent last;  // recorded after each copy
  std::atomic<bool> in_flight{false};
  PinnedUse* next = nullptr;
};

/// A page-locked block of a size class of the host allocator's. Never destroyed once it has been used.
struct TERN_API PinnedBlock final : PinnedMemory {
  int size_class = 0;
  std::atomic<PinnedUse*> uses{nullptr};  // by each device that has used it: an event is of one device only
  PinnedBlock* next = nullptr;

  [[gnu::cold]] TERN_KEY void wait_idle() override;
  TERN_KEY void give_back() override;
};

/// Blocks in the order in which they were given back, so that the first ones are the likeliest to be idle.
struct PinnedQueue {
  PinnedBlock *first = nullptr, *last = nullptr;
};

struct PinnedPool {
  std::mutex mutex;
  PinnedQueue free[memory::class_count];
};
inline PinnedPool& pinned_pool() {
  static PinnedPool& instance = *new PinnedPool;
  return instance;
}

/// The device's use of the block, to be had before a copy is started: it may fail.
TERN_API PinnedUse& use_of(PinnedBlock& block, int ordinal);

/// Notes that what the stream was given up to here uses the block.
inline void mark_in_flight(PinnedUse& use, Stream stream) {
  record_or_wait(use.last.event, stream);
  use.in_flight = true;
}

TERN_API bool is_idle(PinnedUse& use);

/// True if no copy uses the block any more.
inline bool is_idle(const PinnedBlock& block) {
  for (PinnedUse* use = block.uses; use; use = use->next)
    if (!is_idle(*use)) return false;
  return true;
}

/// A block that no copy uses, for any device.
TERN_API PinnedBlock* acquire_pinned(int ordinal, std::size_t bytes);

/// Copies pageable host memory to the device, in order with the stream's work. The driver may read the source of such a copy when it
/// likes, so the bytes are taken first, through a few pinned blocks; the source is free when this returns.
TERN_API void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes);

/// Copies a block's memory to the device, in order with the stream's work; the block is busy until it is done.
TERN_API void copy_pinned_to_device(int ordinal, void* to, const void* from, std::size_t bytes, PinnedBlock& block);

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "pinned.ipp"
#endif
