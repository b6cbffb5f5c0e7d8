// Host memory that a device reads and writes by itself while the host goes on. Page-locking is far slower than a copy,
// so blocks are kept. A block is not reused before the last copy from or to it is done.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "../async_copy.hpp"
#include "../memory.hpp"
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// The copies from and to a block on one stream. Copies on another stream may end later, so they have an event of their
/// own.
struct PinnedUse {
  int ordinal;
  StreamHandle stream;
  ScopedEvent last;  // recorded after each copy
  std::atomic<bool> in_flight{false};
  PinnedUse* next = nullptr;
};

/// A page-locked block. Its size is a size class of the host allocator. Never destroyed once it has been used.
struct TERN_API PinnedBlock final : tern::detail::PinnedMemory {
  int size_class = 0;
  std::atomic<PinnedUse*> uses{nullptr};  // one for each stream that has used it
  PinnedBlock* next = nullptr;

  [[gnu::cold]] TERN_KEY void wait_idle() override;
  TERN_KEY void give_back() override;
};

/// Free blocks, the longest free first, because those are the likeliest to be idle.
struct PinnedQueue {
  PinnedBlock *first = nullptr, *last = nullptr;
};

struct PinnedPool {
  std::mutex mutex;
  PinnedQueue free[tern::detail::memory::class_count];
};
TERN_API PinnedPool& pinned_pool();

/// The entry of a device's stream for the block. Get it before a copy is started, because this can fail.
TERN_API PinnedUse& use_of(PinnedBlock& block, int ordinal, StreamHandle stream);

/// Records that the work on the stream so far uses the block.
inline void mark_in_flight(PinnedUse& use) {
  record_or_wait(use.last.event, use.stream);
  use.in_flight = true;
}

TERN_API bool is_idle(PinnedUse& use);

/// True if no copy uses the block.
inline bool is_idle(const PinnedBlock& block) {
  for (PinnedUse* use = block.uses; use; use = use->next)
    if (!is_idle(*use)) return false;
  return true;
}

/// A block that no copy uses. Any device can use it.
TERN_API PinnedBlock* acquire_pinned(int ordinal, std::size_t bytes);

/// Copies pageable host memory to the device, in order with the stream's work. The driver may read the source of such a
/// copy late, so the bytes are first copied into a few pinned blocks. The source is free when this returns.
TERN_API void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes);

/// Copies a block's memory to the device, in order with the stream's work. The block is busy until the copy is done.
TERN_API void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes, PinnedBlock& block);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "pinned.ipp"
#endif
