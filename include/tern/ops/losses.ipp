// The functions of losses.hpp that are not templates.
#pragma once
#include "losses.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline]] TERN_INLINE Index loss_count(const OpName& op, Reduction reduction, ShapeRef x, ShapeRef target) {
  const Shape shape = broadcast_shapes(op, x, target);
  return reduction == Reduction::mean ? shape.numel() : 1;
}

}  // namespace tern::detail
