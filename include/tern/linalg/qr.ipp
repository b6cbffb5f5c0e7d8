// The functions of qr.hpp that are not templates.
#pragma once
#include <cstring>

#include "qr.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE Index columns_of_q(const char* mode, Index m, Index n) {
  if (std::strcmp(mode, "complete") == 0) return m;
  if (std::strcmp(mode, "reduced") != 0 && std::strcmp(mode, "r") != 0)
    Error::fail("qr", {"the mode must be \"reduced\", \"complete\" or \"r\", not \"", mode, "\""});
  return m < n ? m : n;
}

}}}  // namespace tern::detail
