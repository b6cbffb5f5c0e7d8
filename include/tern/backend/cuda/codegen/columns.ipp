// The functions of columns.hpp that are not templates.
#pragma once
#include "columns.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE ColumnBlocks::ColumnBlocks(Index rows, Index columns, DType elements)
    : type(elements), in_packs(columns % pack_size(elements) == 0) {
  const Index packs = in_packs ? columns / pack_size(type) : columns;
  const Index across = std::min<Index>(32, power_of_two_below(2 * packs - 1)), tiles = (packs + across - 1) / across;
  const Index part = std::max<Index>(8 * (256 / across), (rows * tiles + 1023) / 1024);
  layout = {.rows = rows, .columns = columns, .part = part, .tiles = tiles, .across = across};
  parts = (rows + part - 1) / part;
}

TERN_INLINE ColumnLayout ColumnBlocks::over_parts() const {
  const Index across = std::min<Index>(8, power_of_two_below(2 * layout.columns - 1));
  return {.rows = parts,
          .columns = layout.columns,
          .part = parts,
          .tiles = (layout.columns + across - 1) / across,
          .across = across};
}

}}}  // namespace tern::detail::backend::cuda_kernels
