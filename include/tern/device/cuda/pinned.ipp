// The functions of pinned.hpp that are not templates.
#pragma once
#include "pinned.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE PinnedPool& pinned_pool() {
  static PinnedPool& instance = *new PinnedPool;
  return instance;
}

TERN_NOINLINE PinnedUse& use_of(PinnedBlock& block, int ordinal, StreamHandle stream) {
  PinnedUse* const first = block.uses;
  for (PinnedUse* use = first; use; use = use->next)
    if (use->stream == stream) return *use;
  bind(ordinal);
  auto* const made = new PinnedUse{ordinal, stream, ScopedEvent(), false, first};
  while (!block.uses.compare_exchange_weak(made->next, made)) {}
  return *made;
}

TERN_INLINE bool is_idle(PinnedUse& use) {
  if (!use.in_flight) return true;
  if (!current_context()) bind(use.ordinal);  // any device's context will do
  const DriverStatus status = driver().functions.cuEventQuery(use.last.event);
  if (status && status != status_not_ready) refuse("cuEventQuery", status);
  if (!status) use.in_flight = false;
  return !status;
}

TERN_INLINE void PinnedBlock::wait_idle() {
  for (PinnedUse* use = uses; use; use = use->next) {
    if (is_idle(*use)) continue;
    bind(use->ordinal);
    const Span span(tern::detail::Work::wait, "wait for a copy", use->ordinal, use->stream);
    if (const DriverStatus status = wait_for_event(use->ordinal, use->last.event)) refuse("cuEventSynchronize", status);
    use->in_flight = false;
  }
}

TERN_NOINLINE PinnedBlock* acquire_pinned(int ordinal, std::size_t bytes) {
  bind(ordinal);
  const int size_class = tern::detail::memory::class_of(bytes);
  {
    PinnedPool& pool = pinned_pool();
    const std::lock_guard lock(pool.mutex);
    PinnedQueue& queue = pool.free[size_class];
    if (queue.first && is_idle(*queue.first)) return std::exchange(queue.first, queue.first->next);
  }
  auto block = std::make_unique<PinnedBlock>();
  block->size_class = size_class;
  constexpr unsigned for_all_devices = 1;
  TERN_CUDA(cuMemHostAlloc, &block->memory, tern::detail::memory::class_bytes(size_class), for_all_devices);
  return block.release();
}

TERN_INLINE void PinnedBlock::give_back() {
  PinnedPool& pool = pinned_pool();
  const std::lock_guard lock(pool.mutex);
  PinnedQueue& queue = pool.free[size_class];
  next = nullptr;
  (queue.first ? queue.last->next : queue.first) = this;
  queue.last = this;
}

TERN_NOINLINE void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
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
  const Span span(tern::detail::Work::to_device, "copy to device", ordinal, state.compute, bytes);
  int next = 0;
  for (std::size_t done = 0; done < bytes; next = (next + 1) % most) {
    const std::size_t n = std::min(chunk, bytes - done);
    PinnedBlock*& block = blocks.block[next];
    if (block) block->wait_idle();
    else block = acquire_pinned(ordinal, n);
    PinnedUse& use = use_of(*block, ordinal, state.compute);
    std::memcpy(block->memory, static_cast<const char*>(from) + done, n);
    TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to) + done, block->memory, n, state.compute);
    mark_in_flight(use);
    done += n;
  }
}

TERN_COLD void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes, PinnedBlock& block) {
  if (!bytes) return;
  refuse_capture("to", host_is_read);
  const DeviceState& state = bind(ordinal);
  PinnedUse& use = use_of(block, ordinal, state.compute);
  start_copy_to_device(ordinal, state.compute, to, from, bytes);
  mark_in_flight(use);
}

}}}  // namespace tern::cuda::detail
