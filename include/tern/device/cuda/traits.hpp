// CUDA's devices as the layers above see them.
#pragma once
#include "../device.hpp"
#include "async_copy.hpp"
#include "memory.hpp"

// From here on Cuda is a device, so instances for it can be named (core/config.hpp). They have no kernels of the CPU,
// so the kernel sets do without them.
#if defined(TERN_COMPILING_CUDA_INSTANCES)
#undef TERN_CUDA_INSTANCE
#undef TERN_CUDA_CLASS_INSTANCE
#define TERN_CUDA_INSTANCE(...) template TERN_API __VA_ARGS__;
#define TERN_CUDA_CLASS_INSTANCE(...) template struct TERN_API __VA_ARGS__;
#elif (defined(TERN_COMPILED) || defined(TERN_COMPILING)) && !defined(TERN_KERNEL_SET) && !defined(TERN_CPU_ONLY)
#undef TERN_CUDA_INSTANCE
#undef TERN_CUDA_CLASS_INSTANCE
#define TERN_CUDA_INSTANCE(...) extern template TERN_API __VA_ARGS__;
#define TERN_CUDA_CLASS_INSTANCE(...) extern template struct TERN_API __VA_ARGS__;
#endif

namespace tern { inline namespace TERN_BUILD {

namespace cuda {
class Graph;
}

template <>
struct DeviceTraits<Cuda> {
  static constexpr const char* name = "cuda";
  static constexpr bool host_accessible = false;
  static constexpr Index product_row = 8;
  using Graph = cuda::Graph;

  static void open(int ordinal) { cuda::detail::bind(ordinal); }
  static int& current_ordinal() { return cuda::detail::current_ordinal; }
  static DeviceMemory allocate(int ordinal, std::size_t bytes) {
    const cuda::detail::DeviceBlock block = cuda::detail::allocate(ordinal, bytes);
    return {reinterpret_cast<void*>(block.memory), &cuda::detail::deallocate, reinterpret_cast<void*>(block.tag)};
  }
  static void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
    cuda::detail::copy_to_device(ordinal, to, from, bytes);
  }
  static void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes) {
    cuda::detail::copy_to_host(ordinal, to, from, bytes);
  }
  static void copy_to_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    cuda::detail::copy_to_peer(to_ordinal, to, from_ordinal, from, bytes);
  }

  /// Every PinnedMemory that reaches CUDA is a PinnedBlock.
  struct Async {
    static detail::PinnedMemory* acquire_pinned(int ordinal, std::size_t bytes) {
      return cuda::detail::acquire_pinned(ordinal, bytes);
    }
    static void copy_to_device(int ordinal, void* to, detail::PinnedMemory& pinned, const void* from,
                               std::size_t bytes) {
      cuda::detail::copy_to_device(ordinal, to, from, bytes, block_of(pinned));
    }
    static std::unique_ptr<detail::AsyncCopy> start_copy_to_device(int ordinal, void* to, detail::PinnedMemory& pinned,
                                                                   const void* from, std::size_t bytes) {
      return cuda::detail::start_copy_to_device(ordinal, to, block_of(pinned), from, bytes);
    }
    static std::unique_ptr<detail::AsyncCopy> start_copy_to_host(int ordinal, detail::PinnedMemory& pinned, void* to,
                                                                 const void* from, std::size_t bytes) {
      return cuda::detail::start_copy_to_host(ordinal, block_of(pinned), to, from, bytes);
    }

   private:
    static cuda::detail::PinnedBlock& block_of(detail::PinnedMemory& pinned) {
      return static_cast<cuda::detail::PinnedBlock&>(pinned);
    }
  };
};

namespace cuda {
/// While alive, this thread makes new tensors on another device.
using DeviceGuard = tern::DeviceGuard<Cuda>;
}  // namespace cuda

}}  // namespace tern
