// The functions of unscale.hpp that are not templates.
#pragma once
#include "unscale.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_unscale(const Unscale& op) {
  const Array* const arrays[] = {&op.scale, &op.found};
  const int ordinal = common_ordinal(op.g, arrays, 2);
  if (op.g.numel == 0) return;
  launch_typed(ordinal, unscale_kernel, {op.g.dtype}, grid_for(op.g.numel),
               {.count = op.g.numel, .g = op.g.data, .scale = op.scale.data, .found = op.found.data});
}

}  // namespace tern::backend::cuda_kernels
