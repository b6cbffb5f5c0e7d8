// The functions of registry.hpp that are not templates.
#pragma once
#include "registry.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Registered::~Registered() {
  const std::lock_guard lock(mutex());
  (previous_ ? previous_->next_ : first()) = next_;
  if (next_) next_->previous_ = previous_;
}

TERN_COLD const Registered* Registered::find_unlisted(const Extent& module, const Extent& base, Lists* lists) {
  const std::lock_guard lock(mutex());
  for (const Registered* r = first(); r; r = r->next_)
    if (module.contains(r) && !base.contains(r) && !lists(module.begin, r)) return r;
  return nullptr;
}

TERN_COLD void Registered::enter() noexcept {
  const std::lock_guard lock(mutex());
  next_ = first();
  if (next_) next_->previous_ = this;
  first() = this;
}

TERN_COLD void check_members(const char* type, const Extent& module, const Extent& base, Lists* lists) {
  const void* const member = Registered::find_unlisted(module, base, lists);
  if (member)
    Error::fail(type, {"a layer or parameter that is a member (at byte ",
                       Index(static_cast<const char*>(member) - static_cast<const char*>(module.begin)),
                       ") is not listed in TERN_FIELDS, so it would not be trained"});
}

}}}  // namespace tern::detail
