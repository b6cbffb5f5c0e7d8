// The functions of row_pieces.hpp that are not templates.
#pragma once
#include "row_pieces.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_INLINE RowPieces::RowPieces(Index rows, Index n, Index inner, DType elements)
    : layout{.rows = RowBlocks(rows, n, inner > 1).layout, .n = n, .inner = inner, .pitch = n, .pieces = 0},
      type(elements), in_packs(inner == 1 && n % pack_size(elements) == 0) {
  const Index held = in_packs && detail::size_of(type) < 8 ? 16 : 8;  // by a thread of a piece
  Index& along = layout.rows.along;
  if (inner == 1) {
    along = std::min<Index>(32, power_of_two_below(in_packs ? n / pack_size(type) : n));
    while (along < 256 && along * held < n) along *= 2;
  }
  layout.pieces = (n + along * held - 1) / (along * held);
}

}}}  // namespace tern::backend::cuda_kernels
