// The functions of memory.hpp that are not templates.
#pragma once
#include "memory.hpp"

namespace tern::inline TERN_BUILD::cuda {

[[gnu::noinline, gnu::cold]] TERN_INLINE MemoryStats memory_stats(Cuda device) {
  const detail::DeviceState& state = detail::bind(device.ordinal);
  std::uint64_t used = 0, peak = 0, reserved = 0;
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_used_current, &used);
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_used_high, &peak);
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_reserved_current, &reserved);
  return {Index(used), Index(peak), Index(reserved - used)};
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void reset_peak_memory_stats(Cuda device) {
  std::uint64_t from_now_on = 0;
  TERN_CUDA(cuMemPoolSetAttribute, detail::bind(device.ordinal).pool, pool_used_high, &from_now_on);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void empty_cache(Cuda device) {
  detail::refuse_capture("empty_cache", "the host waits for the device");
  const detail::DeviceState& state = detail::bind(device.ordinal);
  TERN_CUDA(cuStreamSynchronize, state.compute);
  detail::HandlePool::clear_all(device.ordinal);
  TERN_CUDA(cuMemPoolTrimTo, state.pool, 0);
}

}  // namespace tern::cuda

namespace tern::inline TERN_BUILD::cuda::detail {

[[gnu::noinline]] TERN_INLINE DeviceBlock allocate(int ordinal, std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  if (!bytes) bytes = 1;
  if (capture) [[unlikely]] return capture->allocate(bytes);
  DevicePointer memory = 0;
  Status status = driver().functions.cuMemAllocAsync(&memory, bytes, state.compute);
  if (status == status_out_of_memory) [[unlikely]] {
    empty_cache({ordinal});
    status = driver().functions.cuMemAllocAsync(&memory, bytes, state.compute);
  }
  if (status == status_out_of_memory) {
    const MemoryStats held = memory_stats({ordinal});
    fail("cuda memory", {"out of memory on cuda:", ordinal, ": ", Index(bytes), " bytes were asked for, ", held.current,
                         " are in use and ", held.cached, " were cached"});
  }
  if (status) refuse("cuMemAllocAsync", status);
  return {memory, new_tag(ordinal)};
}

}  // namespace tern::cuda::detail
