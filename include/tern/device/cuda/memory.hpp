// A device's memory: the driver's own stream-ordered pool, which keeps what is freed. Allocating and freeing are work of the
// stream, so a block may be freed while a kernel that uses it is still to run.
#pragma once
#include "../memory.hpp"
#include "handle_pool.hpp"

namespace tern::inline TERN_BUILD::cuda {

/// Bytes of the device's memory held by tensors.
TERN_API MemoryStats memory_stats(Cuda device = {current_device()});

/// Makes what is in use now the peak, from which on a larger one is looked for.
TERN_API void reset_peak_memory_stats(Cuda device = {current_device()});

/// Gives cached memory that no tensor uses back to the driver, and destroys the handles of cuBLASLt and cuDNN that no call uses.
TERN_API void empty_cache(Cuda device = {current_device()});

namespace detail {

/// Memory of the device for work that its stream does from here on.
TERN_API DeviceBlock allocate(int ordinal, std::size_t bytes);

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

#ifndef TERN_COMPILED
#include "memory.ipp"
#endif
