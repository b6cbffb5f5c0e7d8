// Where a device's new tensors come from.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <concepts>

#include "../device/cuda/memory.hpp"
#include "../device/device.hpp"
#include "impl.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A new dense tensor on the device, elements not initialised.
template <HostDevice D>
TensorImpl* allocate(DType dtype, ShapeRef shape, int) {
  return new_impl(dtype, shape);
}

/// The same on a CUDA device.
template <std::same_as<Cuda> D>
[[gnu::noinline]] TensorImpl* allocate(DType dtype, ShapeRef shape, int ordinal) {
  const std::size_t bytes = std::size_t(checked_numel(shape, dtype)) * std::size_t(size_of(dtype));
  const cuda::detail::DeviceBlock block = cuda::detail::allocate(ordinal, bytes);
  auto* const memory = reinterpret_cast<void*>(block.memory);
  TensorImpl* const p = new_external(dtype, shape, memory, &cuda::detail::deallocate, reinterpret_cast<void*>(block.tag));
  p->ordinal = std::uint8_t(ordinal);
  return p;
}

}  // namespace tern::detail
