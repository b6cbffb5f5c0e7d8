// The matrix product by blocks: of element types for which oneDNN has none, and of float where it is the faster one.
// Each thread has a part of c and packs both operands, a panel at a time, into the order in which the inner loop reads
// them; its sums stay in registers (Goto, van de Geijn: "Anatomy of high-performance matrix multiplication", 2008).
// Packing also removes strides. Eigen's product is no alternative: it costs 0.85 s of compile time, and its symbols
// would be the same in objects compiled for different instruction sets.
#pragma once
#include "../../../core/parallel.hpp"
#include "../loops/copy.hpp"
#include "../loops/workspace.hpp"
#include "matmul_sums.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace matmul_detail {

/// The sizes of blocks. A tile is rows x columns sums, which are in registers. Up to `tall` tiles, whose rows of a stay
/// in the second-level cache, share a strip of b, `depth` products deep, which stays in the first-level cache. A panel
/// of b is at most `side` columns wide.
template <class T>
struct BlockSizes {
  static constexpr int rows = registers == 32 ? 12 : 6, columns = 2 * lanes<T>;
  static constexpr Index depth = 256, side = 3072, tall = 16;
};

inline Index strips_of(Index width, Index strip) { return (width + strip - 1) / strip; }

/// Packs lines whose elements are adjacent, a square of elements at a time in registers. Stores may spill into the next
/// row of `to`, which is written later; so the last rows are not written here. Returns how many rows are.
template <class T, int strip>
Index pack_squares(Index depth, const T* from, Index across, sum_t<T>* to) {
  constexpr Index n = detail::expr::packet_bytes / Index(sizeof(T)), bytes = sizeof(T);
  using Word = std::conditional_t<bytes == 8, std::int64_t, std::int32_t>;
  Index l = 0;
  for (; l + n < depth; l += n)
    for (Index w = (strip - 1) / n * n; w >= 0; w -= n)
      cpu_kernels::transpose_square<detail::expr::vector_t<Word, n>, false>(
          reinterpret_cast<char*>(to + l * strip + w), strip * bytes,
          reinterpret_cast<const char*>(from + w * across + l), across * bytes, std::make_index_sequence<n>());
  return l;
}

/// Packs `strip` rows of a, or columns of b: to[l * strip + w] = from[l * down + w * across] for l < depth. If fewer
/// are there, zeros take the others' places.
template <class T, int strip>
[[gnu::noinline]] void pack_strip(Index depth, Index there, const T* from, Index down, Index across, sum_t<T>* to) {
  constexpr Index square = detail::expr::packet_bytes / Index(sizeof(T));
  Index l = 0;
  if constexpr (sizeof(T) == sizeof(sum_t<T>))
    if (across == 1 && there >= strip) {
      for (; l < depth; ++l) std::memcpy(to + l * strip, from + l * down, strip * sizeof(T));
      return;
    }
  if constexpr (sizeof(T) >= 4 && sizeof(T) == sizeof(sum_t<T>))
    if (down == 1 && there >= strips_of(strip, square) * square) l = pack_squares<T, strip>(depth, from, across, to);
  for (; l < depth; ++l)
    for (Index w = 0; w < strip; ++w) to[l * strip + w] = w < there ? sum_t<T>(from[l * down + w * across]) : 0;
}

/// A part of a product that one thread computes: some rows and columns of c, whose panels it packs for itself.
template <class T>
struct MatmulPart {
  using B = BlockSizes<T>;
  using S = sum_t<T>;

  MatrixProduct<T> product;

  /// Packs rows from `first` to `last` of a, of the products from l to `end`.
  void pack_a(Index first, Index last, Index l, Index end, S* to) const {
    const auto& a = product.a;
    for (Index i = first; i < last; i += B::rows, to += B::rows * (end - l))
      pack_strip<T, B::rows>(end - l, last - i, a.data + i * a.row + l * a.column, a.column, a.row, to);
  }
  void pack_b(Index first, Index last, Index l, Index end, S* to) const {
    const auto& b = product.b;
    for (Index j = first; j < last; j += B::columns, to += B::columns * (end - l))
      pack_strip<T, B::columns>(end - l, last - j, b.data + l * b.row + j * b.column, b.row, b.column, to);
  }

  /// Computes rows [top, bottom) of c in one strip of b.
  [[gnu::noinline]] static void multiply(const MatrixProduct<T>& p, Index depth, Index top, Index bottom, Index j,
                                         Index columns, const S* a, const S* b) {
    for (Index i = top; i < bottom; i += B::rows, a += B::rows * depth) {
      const Index rows = std::min<Index>(B::rows, bottom - i);
      T* const c = p.c + i * p.c_row + j;
      for (Index r = 0; r < rows; ++r) {  // c is far away
        __builtin_prefetch(c + r * p.c_row, 1);
        __builtin_prefetch(c + r * p.c_row + columns - 1, 1);
      }
      S sums[B::rows * B::columns];
      multiply_tile<S, B::rows, 2, false>(depth, a, 1, B::rows, b, B::columns, sums, B::columns);
      for (Index r = 0; r < rows; ++r)
        if (const S* at = sums + r * B::columns; columns < B::columns) store(p, i + r, j, columns, at);
        else
          for (int u = 0; u < B::columns; u += lanes<T>) store<lanes<T>>(p, i + r, j + u, load<lanes<T>>(at + u));
    }
  }

  void run() const {
    const Index m = product.m(), n = product.n(), k = product.k();
    const Index depth = strips_of(k, strips_of(k, B::depth)), blocks = strips_of(m, B::rows * B::tall);
    const Index height = strips_of(strips_of(m, B::rows), blocks) * B::rows;
    const Index width = std::min(strips_of(n, B::columns) * B::columns, B::side);
    const Workspace<S> packed((width + height) * depth);
    S *const b = packed.get(), *const a = b + width * depth;  // b's strips are whole cache lines
    for (Index j = 0; j < n; j += width)
      for (Index l = 0; l < k; l += depth) {
        const Index right = std::min(n, j + width), end = std::min(k, l + depth);
        MatrixProduct<T> p = product;
        if (l > 0) p.bias = nullptr, p.accumulate = true;
        pack_b(j, right, l, end, b);
        for (Index i = 0; i < m; i += height) {
          const Index bottom = std::min(m, i + height);
          pack_a(i, bottom, l, end, a);
          for (Index at = j; at < right; at += B::columns)
            multiply(p, end - l, i, bottom, at, std::min<Index>(B::columns, right - at), a, b + (at - j) * (end - l));
        }
      }
  }
};

/// How many parts c is divided into, in rows and in columns.
struct MatmulGrid {
  Index down, across;
};

/// The grid of tiles, so many high and wide, for so many threads whose largest part takes the fewest cycles: two
/// registers of products or one packed element each.
inline MatmulGrid best_grid(Index high, Index wide, Index tile_rows, Index tile_columns, Index threads) {
  MatmulGrid best{1, 1};
  Index least = std::numeric_limits<Index>::max();
  for (Index down = 1; down <= threads; ++down) {
    const MatmulGrid g{std::min(down, high), std::min(threads / down, wide)};
    const Index rows = strips_of(high, g.down) * tile_rows, strips = strips_of(wide, g.across);
    const Index cycles = rows * strips + rows + strips * tile_columns;
    if (cycles < least) least = cycles, best = g;
  }
  return best;
}

/// One matrix of a batch. Each sum's order depends only on the shape.
template <class T>
void blocked_matmul(const MatrixProduct<T>& p) {
  using B = BlockSizes<T>;
  const detail::ThreadLease lease(p.m() * p.n() * p.k() <= serial_work ? 1 : get_num_threads());
  const Index high = strips_of(p.m(), B::rows), wide = strips_of(p.n(), B::columns);
  const MatmulGrid g = best_grid(high, wide, B::rows, B::columns, lease.count());
  detail::parallel_for(g.down * g.across, 1, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) {
      const Index row = t / g.across, column = t % g.across;
      const Index i = row * high / g.down * B::rows, j = column * wide / g.across * B::columns;
      MatmulPart<T> part{p};
      auto& q = part.product;
      q.a.data += i * p.a.row, q.b.data += j * p.b.column, q.c += i * p.c_row + j;
      if (p.bias) q.bias += j;
      q.a.rows = std::min(p.m(), (row + 1) * high / g.down * B::rows) - i;
      q.b.columns = std::min(p.n(), (column + 1) * wide / g.across * B::columns) - j;
      part.run();
    }
  });
}

}  // namespace matmul_detail
}  // namespace detail::backend
}}  // namespace tern
