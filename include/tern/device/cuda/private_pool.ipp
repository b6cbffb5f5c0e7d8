// The functions of private_pool.hpp that are not templates.
#pragma once
#include "private_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE DeviceBlock PrivatePool::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Piece* best = nullptr;
  for (Piece& piece : pieces_)
    if (!piece.held && piece.bytes >= bytes && (!best || piece.bytes < best->bytes)) best = &piece;
  if (!best) return add(bytes);
  best->held = true;
  return {best->block.memory, tag_of(this)};
}

TERN_INLINE void PrivatePool::give_back(DeviceBlock block) {
  {
    const std::lock_guard lock(mutex_);
    for (Piece& piece : pieces_)
      if (piece.block.memory == block.memory) piece.held = false;
    if (has_graph_ || is_held()) return;
  }
  destroy();
}

TERN_INLINE void PrivatePool::let_go() {
  {
    const std::lock_guard lock(mutex_);
    has_graph_ = false;
    if (is_held()) return;
  }
  destroy();
}

TERN_INLINE DeviceBlock PrivatePool::add(std::size_t bytes) {
  const std::size_t whole = tern::detail::memory::class_bytes(tern::detail::memory::class_of(bytes));
  const DeviceBlock block = allocate_block(ordinal_, *system().devices[std::size_t(ordinal_)], whole);
  pieces_.push_back({{block.memory, new_tag(ordinal_, size_of(block.tag), age_)}, whole, true});
  return {block.memory, tag_of(this)};
}

}}}  // namespace tern::cuda::detail
