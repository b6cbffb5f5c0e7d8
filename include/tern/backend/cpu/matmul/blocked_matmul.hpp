// The matrix product for element types for which oneDNN has none. Both operands are packed, a block at a time, into the
// order in which the inner loop reads them; its sums stay in registers (Goto, van de Geijn: "Anatomy of
// high-performance matrix multiplication", 2008). Packing also removes strides. Eigen's product is no alternative: it
// costs 0.85 s of compile time, and its symbols would be the same in objects compiled for different instruction sets.
#pragma once
#include "../../../core/parallel.hpp"
#include "matmul_sums.hpp"
#include "../loops/workspace.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace matmul_detail {

/// The sizes of blocks. rows x columns sums are in registers. A task computes tile_rows x tile_columns, `depth`
/// products at a time, so that its two blocks stay in the second-level cache.
template <class T>
struct BlockSizes {
  static constexpr int rows = registers == 32 ? 12 : 6, columns = 2 * lanes<T>;
  static constexpr Index tile_rows = 96, tile_columns = columns * (192 / columns > 0 ? 192 / columns : 1), depth = 256;
};

/// Packs a depth x width block into dense strips of `strip` columns; the last strip is padded with zeros. It takes 8
/// rows at a time, so that columns a power of two apart do not evict each other from the cache.
template <class T>
void pack(Index depth, Index width, Index strip, const T* from, Index down, Index across, sum_t<T>* to) {
  for (Index first = 0; first < width; first += strip, from += strip * across, to += strip * depth) {
    const Index there = std::min(strip, width - first);
    for (Index top = 0; top < depth; top += 8)
      for (Index w = 0; w < strip; ++w)
        for (Index l = top; l < std::min(top + 8, depth); ++l)
          to[l * strip + w] = w < there ? sum_t<T>(from[l * down + w * across]) : 0;
  }
}

/// Computes the tile of c that begins at [i, j].
template <class T>
[[gnu::noinline]] void blocked_tile(const MatrixProduct<T>& p, Index i, Index j) {
  using B = BlockSizes<T>;
  using S = sum_t<T>;
  constexpr Index a_size = B::tile_rows * B::depth, b_size = B::tile_columns * B::depth;
  constexpr Index c_size = B::tile_rows * B::tile_columns, block = B::rows * B::columns;
  const Workspace<S> scratch(a_size + b_size + c_size);
  S *a = scratch.get(), *b = a + a_size, *sums = b + b_size;

  const Index rows = std::min(B::tile_rows, p.m() - i), columns = std::min(B::tile_columns, p.n() - j);
  std::fill_n(sums, c_size, S(0));
  for (Index l = 0; l < p.k(); l += B::depth) {
    const Index depth = std::min(B::depth, p.k() - l);
    pack(depth, rows, B::rows, p.a.data + i * p.a.row + l * p.a.column, p.a.column, p.a.row, a);
    pack(depth, columns, B::columns, p.b.data + l * p.b.row + j * p.b.column, p.b.row, p.b.column, b);
    S* at = sums;
    for (Index v = 0; v < columns; v += B::columns)
      for (Index u = 0; u < rows; u += B::rows, at += block)
        multiply_tile<S, B::rows, 2, true>(depth, a + u * depth, 1, B::rows, b + v * depth, B::columns, at, B::columns);
  }
  const S* at = sums;
  for (Index v = 0; v < columns; v += B::columns)
    for (Index u = 0; u < rows; u += B::rows, at += block)
      for (Index r = 0; r < std::min<Index>(B::rows, rows - u); ++r)
        store(p, i + u + r, j + v, std::min<Index>(B::columns, columns - v), at + r * B::columns);
}

/// One matrix of a batch. The tiles depend only on the shape, so the result does not depend on the number of threads.
template <class T>
void blocked_matmul(const MatrixProduct<T>& p) {
  using B = BlockSizes<T>;
  const Index across = (p.n() + B::tile_columns - 1) / B::tile_columns;
  const Index down = (p.m() + B::tile_rows - 1) / B::tile_rows;
  parallel_for(across * down, 1, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) blocked_tile(p, t / across * B::tile_rows, t % across * B::tile_columns);
  });
}

}  // namespace matmul_detail
}  // namespace backend
}  // namespace tern
