// Host memory that a device reads and writes itself, while the host goes on. Page-locking costs far more than a copy, so blocks are kept,
// and none is handed out again before the last copy from or to it is done.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "../memory.hpp"
#include "span.hpp"

namespace tern::cuda::detail {

/// A page-locked block of a size class of the host allocator's.
struct PinnedBlock {
  void* memory = nullptr;
  int size_class = 0, ordinal = 0;
  ScopedEvent last_use;      // recorded after each copy
  bool in_flight = false;
  PinnedBlock* next = nullptr;
};

struct PinnedPool {
  std::mutex mutex;
  PinnedBlock* free[memory::class_count] = {};
};
inline PinnedPool& pinned_pool() {
  static PinnedPool& instance = *new PinnedPool;
  return instance;
}

/// True if no copy uses the block any more.
inline bool is_idle(PinnedBlock& block) {
  if (!block.in_flight) return true;
  bind(block.ordinal);
  const Status status = driver().functions.cuEventQuery(block.last_use.event);
  if (status && status != status_not_ready) refuse("cuEventQuery", status);
  block.in_flight = status == status_not_ready;
  return !block.in_flight;
}

/// The host waits until no copy uses the block.
[[gnu::noinline]] inline void wait_idle(PinnedBlock& block) {
  if (is_idle(block)) return;
  const DeviceState& state = bind(block.ordinal);
  const Span span(Work::wait, "wait for a copy", block.ordinal, state.compute);
  TERN_CUDA(cuEventSynchronize, block.last_use.event);
  block.in_flight = false;
}

[[gnu::noinline]] inline PinnedBlock* acquire_pinned(int ordinal, std::size_t bytes) {
  bind(ordinal);
  const int size_class = memory::class_of(bytes);
  {
    PinnedPool& pool = pinned_pool();
    const std::lock_guard lock(pool.mutex);
    for (PinnedBlock** link = &pool.free[size_class]; *link; link = &(*link)->next) {
      PinnedBlock* const block = *link;
      if (!is_idle(*block)) continue;
      *link = block->next;
      return block;
    }
  }
  auto block = std::make_unique<PinnedBlock>();
  block->size_class = size_class;
  block->ordinal = ordinal;
  constexpr unsigned for_all_devices = 1;
  TERN_CUDA(cuMemHostAlloc, &block->memory, memory::class_bytes(size_class), for_all_devices);
  return block.release();
}

inline void release_pinned(PinnedBlock* block) {
  PinnedPool& pool = pinned_pool();
  const std::lock_guard lock(pool.mutex);
  block->next = pool.free[block->size_class];
  pool.free[block->size_class] = block;
}

/// Notes that what the stream was given up to here uses the block.
inline void mark_in_flight(PinnedBlock& block, Stream stream) {
  TERN_CUDA(cuEventRecord, block.last_use.event, stream);
  block.in_flight = true;
}

/// Copies pageable host memory to the device, in order with the stream's work. The driver may read the source of such a copy when it
/// likes, so the bytes are taken first, through a few pinned blocks; the source is free when this returns.
[[gnu::noinline]] inline void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (!bytes) return;
  constexpr std::size_t chunk = std::size_t(4) << 20;
  constexpr int most = 4;
  struct Blocks {
    PinnedBlock* block[most] = {};
    ~Blocks() {
      for (PinnedBlock* b : block)
        if (b) release_pinned(b);
    }
  } blocks;
  const DeviceState& state = bind(ordinal);
  const Span span(Work::to_device, "copy to device", ordinal, state.compute, bytes);
  int next = 0;
  for (std::size_t done = 0; done < bytes; next = (next + 1) % most) {
    const std::size_t n = std::min(chunk, bytes - done);
    PinnedBlock*& block = blocks.block[next];
    if (block) wait_idle(*block);
    else block = acquire_pinned(ordinal, n);
    std::memcpy(block->memory, static_cast<const char*>(from) + done, n);
    TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to) + done, block->memory, n, state.compute);
    mark_in_flight(*block, state.compute);
    done += n;
  }
}

/// The deleter of a tensor in pinned memory: context is the block.
inline void deallocate_pinned(void*, void* context) { release_pinned(static_cast<PinnedBlock*>(context)); }

}  // namespace tern::cuda::detail
