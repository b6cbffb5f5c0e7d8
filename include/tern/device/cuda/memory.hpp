// A device's memory: the driver's own stream-ordered pool, which keeps what is freed. Allocating and freeing are work of the
// stream, so a block may be freed while a kernel that uses it is still to run.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../memory.hpp"
#include "handle_pool.hpp"

namespace tern::inline TERN_BUILD::cuda {

/// Bytes of the device's memory held by tensors.
[[gnu::noinline, gnu::cold]] inline MemoryStats memory_stats(Cuda device = {current_device()}) {
  const detail::DeviceState& state = detail::bind(device.ordinal);
  std::uint64_t used = 0, peak = 0, reserved = 0;
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_used_current, &used);
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_used_high, &peak);
  TERN_CUDA(cuMemPoolGetAttribute, state.pool, pool_reserved_current, &reserved);
  return {Index(used), Index(peak), Index(reserved - used)};
}

/// Makes what is in use now the peak, from which on a larger one is looked for.
[[gnu::noinline, gnu::cold]] inline void reset_peak_memory_stats(Cuda device = {current_device()}) {
  std::uint64_t from_now_on = 0;
  TERN_CUDA(cuMemPoolSetAttribute, detail::bind(device.ordinal).pool, pool_used_high, &from_now_on);
}

/// Gives cached memory that no tensor uses back to the driver, and destroys the handles of cuBLASLt and cuDNN that no call uses.
[[gnu::noinline, gnu::cold]] inline void empty_cache(Cuda device = {current_device()}) {
  detail::refuse_capture("empty_cache", "the host waits for the device");
  const detail::DeviceState& state = detail::bind(device.ordinal);
  TERN_CUDA(cuStreamSynchronize, state.compute);
  detail::HandlePool::clear_all(device.ordinal);
  TERN_CUDA(cuMemPoolTrimTo, state.pool, 0);
}

namespace detail {

/// Memory of the device for work that its stream does from here on.
[[gnu::noinline]] inline DeviceBlock allocate(int ordinal, std::size_t bytes) {
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

/// In order with what the device's stream was given.
inline void deallocate(DeviceBlock block) {
  if (MemoryOwner* const owner = owner_of(block.tag)) [[unlikely]] return owner->give_back(block);
  const DeviceState& state = bind_for_release(ordinal_of(block.tag));
  TERN_CUDA_RELEASE(cuMemFreeAsync, block.memory, state.compute);
}
/// A tensor's deleter: context is the memory's tag.
inline void deallocate(void* memory, void* context) {
  deallocate({reinterpret_cast<DevicePointer>(memory), reinterpret_cast<std::uintptr_t>(context)});
}

/// Memory of the device that work started in a scope needs; nothing for no bytes.
class Scratch {
 public:
  Scratch(int ordinal, std::size_t bytes) : block_(bytes ? allocate(ordinal, bytes) : DeviceBlock{}) {}
  ~Scratch() {
    if (block_.memory) deallocate(block_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return reinterpret_cast<char*>(block_.memory); }

 private:
  DeviceBlock block_;
};

}  // namespace detail
}  // namespace tern::cuda
