// The functions of memory.hpp that are not templates.
#pragma once
#include "memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// Empties the cache, waits for releases, so that what they free counts as free, and returns the pool's unused memory
/// to the driver.
TERN_INLINE void trim_pool(int ordinal) {
  const DeviceState& own = *system().devices[std::size_t(ordinal)];
  free_blocks(own, own.blocks->drain());
  TERN_CUDA(cuStreamSynchronize, own.compute);
  if (const PooledStream* const release = own.streams->release) TERN_CUDA(cuStreamSynchronize, release->state.compute);
  TERN_CUDA(cuMemPoolTrimTo, own.pool, 0);
}

TERN_COLD tern::detail::MemoryStats stats_of(const DeviceState& state) {
  std::uint64_t used = 0, reserved = 0;
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_used_current, &used);
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_reserved_current, &reserved);
  tern::detail::MemoryStats stats = state.blocks->stats();
  stats.cached += Index(reserved - used);
  return stats;
}

TERN_NOINLINE DeviceBlock allocate_block(int ordinal, const DeviceState& state, std::size_t bytes) {
  const int size = size_of_block(bytes);
  if (const DevicePointer kept = state.blocks->take(size)) return {kept, new_tag(ordinal, size)};
  const std::size_t whole = state.blocks->bytes_of_new(bytes, size);
  DevicePointer memory = 0;
  DriverStatus status = driver().functions.cuMemAllocAsync(&memory, whole, state.compute);
  if (status == status_out_of_memory) [[unlikely]] {
    if (!capture) HandlePool::clear_all(ordinal);
    trim_pool(ordinal);
    status = driver().functions.cuMemAllocAsync(&memory, whole, state.compute);
  }
  if (status == status_out_of_memory) {
    TERN_CUDA(cuMemPoolTrimTo, state.pool, 0);  // the pool keeps what it took on the way, all that there was
    const tern::detail::MemoryStats held = stats_of(state);
    Error::fail("cuda memory", {"out of memory on cuda:", ordinal, ": ", Index(bytes), " bytes were asked for, ",
                                held.current, " are in use and ", held.cached, " were cached"});
  }
  if (status) refuse("cuMemAllocAsync", status);
  state.blocks->add(size);
  return {memory, new_tag(ordinal, size)};
}

TERN_NOINLINE DeviceBlock allocate(int ordinal, std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  if (!bytes) bytes = 1;
  if (capture) [[unlikely]]
    return capture->allocate(bytes);
  return allocate_block(ordinal, state, bytes);
}

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_COLD tern::detail::MemoryStats memory_stats(Cuda device, CallSite here) {
  const CallScope scope(here);
  return detail::stats_of(detail::bind(device.ordinal));
}

TERN_COLD void reset_peak_memory_stats(Cuda device, CallSite here) {
  const CallScope scope(here);
  detail::bind(device.ordinal).blocks->reset_peak();
}

TERN_COLD void empty_cache(Cuda device, CallSite here) {
  const CallScope scope(here);
  detail::refuse_capture("empty_cache", "the host waits for the device");
  detail::bind(device.ordinal);
  detail::HandlePool::clear_all(device.ordinal);
  detail::trim_pool(device.ordinal);
}

}}}  // namespace tern::cuda
