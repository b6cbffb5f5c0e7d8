// The functions of row_pieces.hpp that are not templates.
#pragma once
#include "row_pieces.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE RowPieces::RowPieces(Index rows, Index n, Index inner, DType elements)
    : layout{.rows = RowBlocks(rows, n, inner > 1).layout, .n = n, .inner = inner, .pieces = 0}, type(elements) {
  Index& along = layout.rows.along;
  if (inner == 1) {
    along = std::min<Index>(32, power_of_two_below(is_packed() ? n / vector() : n));
    while (along < 256 && along * held() < n) along *= 2;
  }
  layout.pieces = (n + along * held() - 1) / (along * held());
}

TERN_INLINE bool RowPieces::are_aligned(std::initializer_list<const Array*> arrays) const {
  for (const Array* const a : arrays)
    if (reinterpret_cast<std::uintptr_t>(a->data) % std::uintptr_t(vector() * size_of(a->dtype))) return false;
  return true;
}

}  // namespace tern::backend::cuda_kernels
