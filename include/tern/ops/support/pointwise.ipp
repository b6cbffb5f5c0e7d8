// The functions of pointwise.hpp that are not templates.
#pragma once
#include "pointwise.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline]] TERN_INLINE bool is_summed(ShapeRef g, ShapeRef input) {
  bool differs = input.n != g.n;
  for (int i = g.n - input.n; i < g.n; ++i) {
    const Index size = i < 0 ? 0 : input.d[i - (g.n - input.n)];
    if (i < 0 || (size != g.d[i] && size != 1)) return false;
    differs = differs || size != g.d[i];
  }
  return differs;
}

}  // namespace tern::detail
