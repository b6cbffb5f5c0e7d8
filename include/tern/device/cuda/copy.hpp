// Bytes across the wire.
#pragma once
#include "timeline.hpp"

namespace tern::cuda {

/// Host memory to the device. From pageable memory the driver has taken the bytes when this returns.
[[gnu::noinline]] inline void copy_to_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (!bytes) return;
  const detail::DeviceState& state = detail::bind(ordinal);
  const detail::Span span(Work::to_device, "copy to device", ordinal, state, bytes);
  TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to), from, bytes, state.compute);
}

/// Waits until everything that was started on a device is done.
[[gnu::noinline]] inline void synchronize(Cuda device = {}) {
  const detail::DeviceState& state = detail::bind(device.ordinal);
  const detail::Span span(Work::wait, "synchronize", device.ordinal, state);
  TERN_CUDA(cuStreamSynchronize, state.compute);
}

/// The device to host memory; waits until the bytes are there.
[[gnu::noinline]] inline void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes) {
  const detail::DeviceState& state = detail::bind(ordinal);
  if (bytes) {
    const detail::Span span(Work::to_host, "copy to host", ordinal, state, bytes);
    TERN_CUDA(cuMemcpyDtoHAsync_v2, to, reinterpret_cast<DevicePointer>(from), bytes, state.compute);
  }
  synchronize({ordinal});
}

/// Between two places of one device.
inline void copy_on_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  const detail::DeviceState& state = detail::bind(ordinal);
  const detail::Span span(Work::kernel, "copy on device", ordinal, state, bytes);
  TERN_CUDA(cuMemcpyDtoDAsync_v2, reinterpret_cast<DevicePointer>(to), reinterpret_cast<DevicePointer>(from), bytes, state.compute);
}

}  // namespace tern::cuda
