// The functions of registry.hpp that are not templates.
#pragma once
#include "registry.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Registered::~Registered() {
  const std::lock_guard lock(mutex());
  (previous_ ? previous_->next_ : first()) = next_;
  if (next_) next_->previous_ = previous_;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE const Registered* Registered::find_unlisted(const Extent& module, Lists* lists) {
  const std::lock_guard lock(mutex());
  for (const Registered* r = first(); r; r = r->next_)
    if (module.contains(r) && r != module.begin && !lists(module.begin, r)) return r;
  return nullptr;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Registered::enter() noexcept {
  const std::lock_guard lock(mutex());
  next_ = first();
  if (next_) next_->previous_ = this;
  first() = this;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void check_members(const char* type, const Extent& module, Lists* lists) {
  if (const Registered* member = Registered::find_unlisted(module, lists)) {
    fail(type, {"a layer or parameter that is a member (at byte ",
                Index(reinterpret_cast<const char*>(member) - static_cast<const char*>(module.begin)),
                ") is not listed in TERN_FIELDS, so it would not be trained"});
  }
}

}  // namespace tern::detail
