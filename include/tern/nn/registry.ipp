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
    if (module.contains(r) && !base.contains(r) && lists(module.begin, r) != Listed::layer) return r;
  return nullptr;
}

/// True if what lies at these addresses may be the elements of a std::vector: equal parts of [begin, end), with an
/// object at the same place in each. The vector's memory, up to limit, has room for a whole number of parts. A part of
/// more than 1 MiB is no element: there `begin` is some number, before a pointer.
TERN_COLD bool are_equal_parts(const std::vector<std::uintptr_t>& addresses, std::uintptr_t begin, std::uintptr_t end,
                               std::uintptr_t limit) {
  for (std::size_t parts = addresses.size(); parts > 0; --parts) {
    const std::uintptr_t part = (end - begin) / parts;
    if ((end - begin) % parts || (limit - begin) % part || part > 1 << 20) continue;
    bool equal = true;
    for (const std::uintptr_t a : addresses) {
      bool has_earlier = a - begin < part;
      for (const std::uintptr_t earlier : addresses) has_earlier = has_earlier || earlier + part == a;
      equal = equal && has_earlier;
    }
    if (equal) return true;
  }
  return false;
}

// The words may lie in memory that an address sanitizer forbids, such as the unused part of a string.
[[gnu::noinline, gnu::cold, gnu::no_sanitize_address]] TERN_INLINE const void* Registered::find_unlisted_vector(
    const Extent& module, const Extent& base, Lists* lists) {
  using Word [[gnu::may_alias]] = std::uintptr_t;
  const auto known = [&](const void* p) { return base.contains(p) || lists(module.begin, p) != Listed::nothing; };
  const auto* const words = static_cast<const Word*>(module.begin);
  const std::lock_guard lock(mutex());
  for (std::size_t i = 0; i + 3 <= module.bytes / sizeof(Word); ++i) {
    const std::uintptr_t begin = words[i], end = words[i + 1], limit = words[i + 2];
    if (!begin || begin >= end || end > limit || known(words + i) || known(words + i + 1) || known(words + i + 2))
      continue;
    std::vector<std::uintptr_t> found;
    bool is_block = true;  // of elements: nothing that is listed, and nothing in the spare room
    for (const Registered* r = first(); r && is_block; r = r->next_) {
      const auto address = reinterpret_cast<std::uintptr_t>(r);
      if (address < begin || address > limit) continue;
      is_block = address < end && lists(module.begin, r) != Listed::layer && !base.contains(r);
      found.push_back(address);
    }
    if (is_block && are_equal_parts(found, begin, end, limit)) return words + i;
  }
  return nullptr;
}

TERN_COLD void Registered::enter() noexcept {
  const std::lock_guard lock(mutex());
  next_ = first();
  if (next_) next_->previous_ = this;
  first() = this;
}

TERN_COLD void check_members(const char* type, const Extent& module, const Extent& base, Lists* lists) {
  const auto refuse = [&](const char* what, const void* member) {
    fail(type, {what, " that is a member (at byte ",
                Index(static_cast<const char*>(member) - static_cast<const char*>(module.begin)),
                ") is not listed in TERN_FIELDS, so it would not be trained"});
  };
  if (const Registered* const member = Registered::find_unlisted(module, base, lists))
    refuse("a layer or parameter", member);
  if (const void* const member = Registered::find_unlisted_vector(module, base, lists))
    refuse("a std::vector of layers or parameters", member);
}

}}}  // namespace tern::detail
