// Temporary memory of a kernel.
#pragma once
#include "../../../core/config.hpp"
#include "../../../device/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// Memory for n elements from the caching allocator, aligned to 64 bytes and not initialised.
template <class T>
class Workspace {
 public:
  explicit Workspace(Index n) : block_(detail::memory::allocate_bytes(sizeof(T) * std::size_t(n))) {}
  ~Workspace() { detail::memory::deallocate(block_.data, block_.size_class); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  T* get() const { return static_cast<T*>(block_.data); }

 private:
  detail::memory::Block block_;
};

}  // namespace detail::backend
}}  // namespace tern
