// Bytes across the wire.
#pragma once
#include "context.hpp"

namespace tern::cuda {

/// Host memory to the device. From pageable memory the driver has taken the bytes when this returns.
[[gnu::noinline]] inline void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (!bytes) return;
  TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to), from, bytes, detail::bind(ordinal).compute);
}

/// The device to host memory; waits until the bytes are there.
[[gnu::noinline]] inline void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes) {
  const detail::DeviceState& state = detail::bind(ordinal);
  if (bytes) TERN_CUDA(cuMemcpyDtoHAsync_v2, to, reinterpret_cast<DevicePointer>(from), bytes, state.compute);
  TERN_CUDA(cuStreamSynchronize, state.compute);
}

/// Between two places of one device.
inline void copy_on_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  TERN_CUDA(cuMemcpyDtoDAsync_v2, reinterpret_cast<DevicePointer>(to), reinterpret_cast<DevicePointer>(from), bytes,
            detail::bind(ordinal).compute);
}

}  // namespace tern::cuda
