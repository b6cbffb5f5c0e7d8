// The functions of handle_pool.hpp that are not templates.
#pragma once
#include "handle_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_COLD HandlePool::HandlePool(Create create, Destroy destroy) : create_(create), destroy_(destroy), next_(all_) {
  while (!all_.compare_exchange_weak(next_, this)) continue;
}

TERN_NOINLINE void HandlePool::put(PooledHandle* handle) {
  const std::lock_guard lock(mutex_);
  handle->next = idle_;
  idle_ = handle;
}

TERN_COLD void HandlePool::prepare_all(int ordinal) {
  for (HandlePool* pool = all_; pool; pool = pool->next_) pool->put(pool->take(ordinal));
}

TERN_COLD void HandlePool::clear_all(int ordinal) {
  for (HandlePool* pool = all_; pool; pool = pool->next_)
    while (PooledHandle* const idle = pool->take_idle(ordinal)) {
      pool->destroy_(idle->handle);
      delete idle;
    }
}

TERN_NOINLINE PooledHandle* HandlePool::take_idle(int ordinal) {
  const std::lock_guard lock(mutex_);
  for (PooledHandle** link = &idle_; *link; link = &(*link)->next)
    if ((*link)->ordinal == ordinal) return std::exchange(*link, (*link)->next);
  return nullptr;
}

}}}  // namespace tern::cuda::detail
