// The functions of pointwise.hpp that are not templates.
#pragma once
#include "pointwise.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE bool is_summed(const Array* const* operands, int count, ShapeRef input) {
  Shape g = operands[0]->shape();
  for (int k = 1; k < count; ++k) g = broadcast_shapes({"gradient", CallSite::unknown}, g, operands[k]->shape_ref());
  bool differs = input.n != g.n;
  for (int i = g.n - input.n; i < g.n; ++i) {
    const Index size = i < 0 ? 0 : input.d[i - (g.n - input.n)];
    if (i < 0 || (size != g.d[i] && size != 1)) return false;
    differs = differs || size != g.d[i];
  }
  return differs;
}

}}}  // namespace tern::detail
