// Tensors in pinned host memory.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../device/cuda/pinned.hpp"
#include "impl.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A new dense tensor in pinned host memory, elements not initialised.
[[gnu::noinline, gnu::cold]] inline TensorImpl* new_pinned(int ordinal, DType dtype, ShapeRef shape) {
  const std::size_t bytes = std::size_t(checked_numel(shape, dtype)) * std::size_t(size_of(dtype));
  cuda::detail::PinnedBlock* const block = cuda::detail::acquire_pinned(ordinal, bytes);
  TensorImpl* const p = new_external(dtype, shape, block->memory, &cuda::detail::deallocate_pinned, block);
  p->pinned = true;
  return p;
}

inline cuda::detail::PinnedBlock& pinned_block(const TensorImpl* p) {
  return *static_cast<cuda::detail::PinnedBlock*>(p->owner->deleter_context);
}

/// Starts copying p, dense and pinned, to a device's tensor of its size. p's memory is busy until that is done.
[[gnu::noinline, gnu::cold]] inline void send_pinned(const TensorImpl* to, const TensorImpl* p) {
  const std::size_t bytes = std::size_t(p->numel) * std::size_t(size_of(p->dtype));
  cuda::detail::copy_pinned_to_device(to->ordinal, to->data, p->data, bytes, pinned_block(p));
}

/// Waits until no copy reads or writes p's elements any more.
[[gnu::noinline, gnu::cold]] inline void finish_copies(const TensorImpl* p) { cuda::detail::wait_idle(pinned_block(p)); }

}  // namespace tern::detail
