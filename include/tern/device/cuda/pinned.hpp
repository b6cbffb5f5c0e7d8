// Host memory that a device reads and writes itself, while the host goes on. Page-locking costs far more than a copy, so blocks are kept,
// and none is handed out again before the last copy from or to it is done.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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
struct PinnedBlock final : PinnedMemory {
  int size_class = 0;
  std::atomic<PinnedUse*> uses{nullptr};  // by each device that has used it: an event is of one device only
  PinnedBlock* next = nullptr;

  void wait_idle() override;
  void give_back() override;
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
[[gnu::noinline]] inline PinnedUse& use_of(PinnedBlock& block, int ordinal) {
  PinnedUse* const first = block.uses;
  for (PinnedUse* use = first; use; use = use->next)
    if (use->ordinal == ordinal) return *use;
  bind(ordinal);
  auto* const made = new PinnedUse{ordinal, ScopedEvent(), false, first};
  while (!block.uses.compare_exchange_weak(made->next, made)) {}
  return *made;
}

/// Notes that what the stream was given up to here uses the block.
inline void mark_in_flight(PinnedUse& use, Stream stream) {
  record_or_wait(use.last.event, stream);
  use.in_flight = true;
}

inline bool is_idle(PinnedUse& use) {
  if (!use.in_flight) return true;
  if (bound_ordinal < 0) bind(use.ordinal);  // any device's context will do
  const Status status = driver().functions.cuEventQuery(use.last.event);
  if (status && status != status_not_ready) refuse("cuEventQuery", status);
  if (!status) use.in_flight = false;
  return !status;
}

/// True if no copy uses the block any more.
inline bool is_idle(const PinnedBlock& block) {
  for (PinnedUse* use = block.uses; use; use = use->next)
    if (!is_idle(*use)) return false;
  return true;
}

[[gnu::noinline, gnu::cold]] inline void PinnedBlock::wait_idle() {
  for (PinnedUse* use = uses; use; use = use->next) {
    if (is_idle(*use)) continue;
    const DeviceState& state = bind(use->ordinal);
    const Span span(Work::wait, "wait for a copy", use->ordinal, state.compute);
    TERN_CUDA(cuEventSynchronize, use->last.event);
    use->in_flight = false;
  }
}

/// A block that no copy uses, for any device.
[[gnu::noinline]] inline PinnedBlock* acquire_pinned(int ordinal, std::size_t bytes) {
  bind(ordinal);
  const int size_class = memory::class_of(bytes);
  {
    PinnedPool& pool = pinned_pool();
    const std::lock_guard lock(pool.mutex);
    PinnedQueue& queue = pool.free[size_class];
    if (queue.first && is_idle(*queue.first)) return std::exchange(queue.first, queue.first->next);
  }
  auto block = std::make_unique<PinnedBlock>();
  block->size_class = size_class;
  constexpr unsigned for_all_devices = 1;
  TERN_CUDA(cuMemHostAlloc, &block->memory, memory::class_bytes(size_class), for_all_devices);
  return block.release();
}

inline void PinnedBlock::give_back() {
  PinnedPool& pool = pinned_pool();
  const std::lock_guard lock(pool.mutex);
  PinnedQueue& queue = pool.free[size_class];
  next = nullptr;
  (queue.first ? queue.last->next : queue.first) = this;
  queue.last = this;
}

/// Copies pageable host memory to the device, in order with the stream's work. The driver may read the source of such a copy when it
/// likes, so the bytes are taken first, through a few pinned blocks; the source is free when this returns.
[[gnu::noinline]] inline void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (!bytes) return;
  refuse_capture("to", host_is_read);
  constexpr std::size_t chunk = std::size_t(4) << 20;
  constexpr int most = 4;
  struct Blocks {
    PinnedBlock* block[most] = {};
    ~Blocks() {
      for (PinnedBlock* b : block)
        if (b) b->give_back();
    }
  } blocks;
  const DeviceState& state = bind(ordinal);
  const Span span(Work::to_device, "copy to device", ordinal, state.compute, bytes);
  int next = 0;
  for (std::size_t done = 0; done < bytes; next = (next + 1) % most) {
    const std::size_t n = std::min(chunk, bytes - done);
    PinnedBlock*& block = blocks.block[next];
    if (block) block->wait_idle();
    else block = acquire_pinned(ordinal, n);
    PinnedUse& use = use_of(*block, ordinal);
    std::memcpy(block->memory, static_cast<const char*>(from) + done, n);
    TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to) + done, block->memory, n, state.compute);
    mark_in_flight(use, state.compute);
    done += n;
  }
}

/// Copies a block's memory to the device, in order with the stream's work; the block is busy until it is done.
[[gnu::noinline, gnu::cold]] inline void copy_pinned_to_device(int ordinal, void* to, const void* from, std::size_t bytes, PinnedBlock& block) {
  if (!bytes) return;
  refuse_capture("to", host_is_read);
  const DeviceState& state = bind(ordinal);
  PinnedUse& use = use_of(block, ordinal);
  start_to_device(ordinal, state.compute, to, from, bytes);
  mark_in_flight(use, state.compute);
}

}  // namespace tern::cuda::detail
