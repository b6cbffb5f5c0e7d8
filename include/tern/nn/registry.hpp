// Where every live module and parameter is, so that a member that its module does not list can be found.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <mutex>

#include "../core/error.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A stretch of memory: an object.
struct Extent {
  const void* begin;
  std::size_t bytes;
  bool contains(const void* p) const {
    return static_cast<const char*>(p) >= static_cast<const char*>(begin) &&
           static_cast<const char*>(p) < static_cast<const char*>(begin) + bytes;
  }
};

/// True if a module lists a member that contains the address.
using Lists = bool(const void* module, const void* address);

/// A base of everything that a module must list: knows all its live instances.
class Registered {
 public:
  Registered() noexcept { enter(); }
  Registered(const Registered&) noexcept { enter(); }
  Registered& operator=(const Registered&) noexcept { return *this; }
  [[gnu::noinline, gnu::cold]] ~Registered() {
    const std::lock_guard lock(mutex());
    (previous_ ? previous_->next_ : first()) = next_;
    if (next_) next_->previous_ = previous_;
  }

  /// An instance in `module`, other than the module itself, that it does not list; null if there is none.
  [[gnu::noinline, gnu::cold]] static const Registered* find_unlisted(const Extent& module, Lists* lists) {
    const std::lock_guard lock(mutex());
    for (const Registered* r = first(); r; r = r->next_)
      if (module.contains(r) && r != module.begin && !lists(module.begin, r)) return r;
    return nullptr;
  }

 private:
  // Never destroyed: modules may be static.
  static std::mutex& mutex() {
    static std::mutex* const instance = new std::mutex;
    return *instance;
  }
  static Registered*& first() {
    static Registered* instance = nullptr;
    return instance;
  }
  [[gnu::noinline, gnu::cold]] void enter() noexcept {
    const std::lock_guard lock(mutex());
    next_ = first();
    if (next_) next_->previous_ = this;
    first() = this;
  }

  Registered* previous_ = nullptr;
  Registered* next_ = nullptr;
};

/// Error if a registered object is a member of the module but not listed.
[[gnu::noinline, gnu::cold]] inline void check_members(const char* type, const Extent& module, Lists* lists) {
  if (const Registered* member = Registered::find_unlisted(module, lists)) {
    fail(type, {"a layer or parameter that is a member (at byte ",
                Index(reinterpret_cast<const char*>(member) - static_cast<const char*>(module.begin)),
                ") is not listed in TERN_FIELDS, so it would not be trained"});
  }
}

}  // namespace tern::detail
