// Temporary memory of a kernel.
#pragma once
#include "../../../core/config.hpp"
#include "../../../device/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// Memory for n elements from the caching allocator, aligned to 64 bytes and not initialised.
template <class T>
class Workspace {
 public:
  explicit Workspace(Index n)
      : class_(detail::memory::class_of(sizeof(T) * std::size_t(n))),
        data_(static_cast<T*>(detail::memory::allocate(class_, sizeof(T) * std::size_t(n)))) {}
  ~Workspace() { detail::memory::deallocate(data_, class_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  T* get() const { return data_; }

 private:
  int class_;
  T* data_;
};

}  // namespace detail::backend
}}  // namespace tern
