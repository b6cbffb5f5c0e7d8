// The place in the user's program where an operation was called.
#pragma once
#include <cstdint>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD {

/// A source line. As a default argument it is the caller's line. clang 14's library has no std::source_location.
class Here {
  struct Default {};  // the first parameter, so that no text or number converts to a Here

 public:
  const char* file;
  std::uint32_t line;
  constexpr Here(const char* f, std::uint32_t l) : file(f), line(l) {}
  constexpr Here(Default = {}, const char* f = __builtin_FILE(), std::uint32_t l = __builtin_LINE())
      : file(f), line(l) {}
};

namespace detail {
extern TERN_API constinit thread_local const Here* outermost_site;

/// While alive, operations of this thread count as called at the outermost such line. So what a layer or an optimiser
/// does is accounted to the user's line that called it.
class Site {
 public:
  explicit Site(const Here& here) : outer_(outermost_site) {
    if (!outer_) outermost_site = &here;
  }
  ~Site() { outermost_site = outer_; }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

 private:
  const Here* outer_;
};

/// The line that an operation called at `here` is accounted to.
inline const Here& site(const Here& here) { return outermost_site ? *outermost_site : here; }
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "here.ipp"
#endif
