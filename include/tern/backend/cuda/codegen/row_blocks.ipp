// The functions of row_blocks.hpp that are not templates.
#pragma once
#include "row_blocks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_INLINE RowBlocks::RowBlocks(Index rows, Index n, bool adjacent)
    : layout{.count = rows, .along = power_of_two_below(n), .adjacent = adjacent} {
  const Index across = adjacent && rows < 32 ? power_of_two_below(rows) : 32;
  if (adjacent && layout.along > 256 / across) layout.along = 256 / across;
}

}}}  // namespace tern::backend::cuda_kernels
