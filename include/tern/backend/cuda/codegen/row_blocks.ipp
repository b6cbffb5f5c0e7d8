// What row_blocks.hpp declares and is no template.
#pragma once
#include "row_blocks.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE Words RowBlocks::words() const {
  Words words;
  words.add(rows);
  words.add(along);
  words.add(Index(adjacent));
  return words;
}

}  // namespace tern::backend::cuda_kernels
