// Allocation of a device's tensors.
#pragma once
#include "../device/device.hpp"
#include "impl.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A new dense tensor on the device. Its elements are not initialised.
template <HostDevice D>
TensorImpl* allocate(DType dtype, ShapeRef shape, int) {
  return new_impl(dtype, shape);
}
template <Device D>
  requires(!HostDevice<D>)
[[gnu::noinline]] TensorImpl* allocate(DType dtype, ShapeRef shape, int ordinal) {
  const std::size_t bytes = std::size_t(new_numel(shape, dtype)) * std::size_t(size_of(dtype));
  const DeviceMemory memory = DeviceTraits<D>::allocate(ordinal, bytes);
  TensorImpl* const p = new_external(dtype, shape, memory.data, memory.deleter, memory.context);
  p->ordinal = std::uint8_t(ordinal);
  return p;
}

}  // namespace tern::detail
