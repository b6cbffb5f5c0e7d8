// Device memory from the driver's stream-ordered pool, which keeps freed memory, and from the cache of small blocks
// above it. The stream allocates and frees in order with its other work, so a block may be freed before a kernel that
// uses it has run.
#pragma once
#include "../memory.hpp"
#include "handle_pool.hpp"
#include "stream_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// Bytes of the device's memory held by tensors.
TERN_API tern::detail::MemoryStats memory_stats(Cuda device = {current_device()}, CallSite here = {});

/// memory_stats().current and memory_stats().peak under PyTorch's names.
inline Index memory_allocated(Cuda device = {current_device()}, CallSite here = {}) {
  return memory_stats(device, here).current;
}
inline Index max_memory_allocated(Cuda device = {current_device()}, CallSite here = {}) {
  return memory_stats(device, here).peak;
}

/// Resets the peak to the memory that is in use now.
TERN_API void reset_peak_memory_stats(Cuda device = {current_device()}, CallSite here = {});

/// Returns cached memory that no tensor uses to the driver, and destroys the handles of cuBLASLt and cuDNN that no call
/// uses.
TERN_API void empty_cache(Cuda device = {current_device()}, CallSite here = {});

namespace detail {

/// Memory for work that is started on the state's stream after this call, though a graph may be captured. If there is
/// none, the cache and the pool give back what they keep first. Error if there is none even then.
TERN_API DeviceBlock allocate_block(int ordinal, const DeviceState& state, std::size_t bytes);

/// Device memory for work that is started on the device's stream after this call.
TERN_API DeviceBlock allocate(int ordinal, std::size_t bytes);

/// Frees the block after the work that was started on the device before.
inline void deallocate(DeviceBlock block) {
  if (MemoryOwner* const owner = owner_of(block.tag)) [[unlikely]]
    return owner->give_back(block);
  const int ordinal = ordinal_of(block.tag);
  if (system().devices[std::size_t(ordinal)]->blocks->keep(block.memory, size_of(block.tag))) return;
  const DeviceState& state = bind_for_release(ordinal);
  if (state.streams->count) [[unlikely]]
    return release_behind_all(state, block.memory);
  TERN_CUDA_RELEASE(cuMemFreeAsync, block.memory, state.compute);
}
/// The deleter of a tensor; context is the memory's tag.
inline void deallocate(void* memory, void* context) {
  deallocate({reinterpret_cast<DevicePointer>(memory), reinterpret_cast<std::uintptr_t>(context)});
}

/// Temporary device memory for the work that a scope starts; null for 0 bytes.
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
}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "memory.ipp"
#endif
