// The functions of extrema.hpp that are not templates.
#pragma once
#include "extrema.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_not_empty(const CallSite& op, ShapeRef shape, unsigned mask) {
  for (int i = 0; i < shape.n; ++i)
    if (mask >> i & 1 && shape.d[i] == 0) Error::fail(op, {"dimension ", i, " of ", shape, " is empty"});
}

}}}  // namespace tern::detail
