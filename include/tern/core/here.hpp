// Where in the user's program an operation was called.
#pragma once
#include <cstdint>

#include "config.hpp"

namespace tern::inline TERN_BUILD {

/// A source line. As a default argument it is the caller's; std::source_location is missing in clang 14's library.
class Here {
  struct Default {};  // in front, so that no text or number converts to a line

 public:
  const char* file;
  std::uint32_t line;
  constexpr Here(const char* f, std::uint32_t l) : file(f), line(l) {}
  constexpr Here(Default = {}, const char* f = __builtin_FILE(), std::uint32_t l = __builtin_LINE())
      : file(f), line(l) {}
};

namespace detail {
extern TERN_API constinit thread_local const Here* outermost_site;
}

/// While alive, calls of this thread count as made at the outermost such line: what a layer or an optimiser does inside
/// is accounted to the user's line that called it.
class Site {
 public:
  explicit Site(const Here& here) : outer_(detail::outermost_site) {
    if (!outer_) detail::outermost_site = &here;
  }
  ~Site() { detail::outermost_site = outer_; }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

 private:
  const Here* outer_;
};

/// The line that an operation called at `here` is accounted to.
inline const Here& site(const Here& here) { return detail::outermost_site ? *detail::outermost_site : here; }

}  // namespace tern

#ifndef TERN_COMPILED
#include "here.ipp"
#endif
