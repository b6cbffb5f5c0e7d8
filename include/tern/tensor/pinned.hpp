// Tensors in pinned host memory.
#pragma once
#include "../device/async_copy.hpp"
#include "../device/device.hpp"
#include "impl.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A new dense tensor in pinned host memory, for copies from or to a device. Its elements are not initialised.
template <AsyncDevice D>
[[gnu::noinline, gnu::cold]] TensorImpl* new_pinned(int ordinal, DType dtype, ShapeRef shape) {
  const std::size_t bytes = std::size_t(new_numel(shape, dtype)) * std::size_t(size_of(dtype));
  PinnedMemory* const block = DeviceTraits<D>::Async::acquire_pinned(ordinal, bytes);
  const Deleter give_back = [](void*, void* context) { static_cast<PinnedMemory*>(context)->give_back(); };
  TensorImpl* const p = new_external(dtype, shape, block->memory, give_back, block);
  p->pinned = true;
  return p;
}

inline PinnedMemory& pinned_memory(const TensorImpl* p) {
  return *static_cast<PinnedMemory*>(p->owner->deleter_context);
}

/// Waits until no copy uses p's elements.
[[gnu::noinline, gnu::cold]] inline void finish_copies(const TensorImpl* p) { pinned_memory(p).wait_idle(); }

}}}  // namespace tern::detail
