// The product of bfloat16 matrices on processors with AMX: an instruction multiplies a tile of 16 rows by one of 16
// columns, 32 products deep, and adds to 256 sums in float. It takes elements in pairs that are adjacent along the
// products.
#pragma once
#include "../../../core/parallel.hpp"
#include "blocked_matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::matmul_detail {

using TileProduct = MatrixProduct<bfloat16>;

/// A tile's rows or columns, its depth, and its pairs.
inline constexpr Index tile_lines = 16, tile_depth = 32, tile_pairs = 256;

/// True if this processor has such instructions, and the system and oneDNN's settings allow them.
TERN_API bool has_tiles();

TERN_API void tile_matmul(const TileProduct& p);

}}}  // namespace tern::detail::backend::matmul_detail

#ifndef TERN_NO_KERNELS
#include "tile_matmul.ipp"
#endif
