// The matrix product by blocks: of element types for which oneDNN has none, and of float where it is the faster one. Both
// operands are packed, a panel at a time, into the order in which the inner loop reads them; its sums stay in registers
// (Goto, van de Geijn: "Anatomy of high-performance matrix multiplication", 2008). Packing also removes strides.
// Eigen's product is no alternative: it costs 0.85 s of compile time, and its symbols would be the same in objects
// compiled for different instruction sets.
#pragma once
#include "../../../core/parallel.hpp"
#include "../loops/copy.hpp"
#include "../loops/workspace.hpp"
#include "matmul_sums.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace matmul_detail {

/// The sizes of blocks. A tile is rows x columns sums, which are in registers. A panel is at most `depth` products deep and
/// `side` rows or columns wide: both operands' panels together stay in the third-level cache. A task's `tall` tiles share a
/// strip of b, which stays in the first-level cache.
template <class T>
struct BlockSizes {
  static constexpr int rows = registers == 32 ? 12 : 6, columns = 2 * lanes<T>;
  static constexpr Index depth = 256, side = 3072, tall = 16;
};

inline Index strips_of(Index width, Index strip) { return (width + strip - 1) / strip; }

/// Packs lines whose elements are adjacent, a square of elements at a time in registers. Stores may spill into the next row of
/// `to`, which is written later; so the last rows are not written here. Returns how many rows are.
template <class T, int strip>
Index pack_squares(Index depth, const T* from, Index across, sum_t<T>* to) {
  constexpr Index n = expr::packet_bytes / Index(sizeof(T)), bytes = sizeof(T);
  using Word = std::conditional_t<bytes == 8, std::int64_t, std::int32_t>;
  Index l = 0;
  for (; l + n < depth; l += n)
    for (Index w = (strip - 1) / n * n; w >= 0; w -= n)
      cpu_kernels::transpose_square<expr::vector_t<Word, n>, false>(
          reinterpret_cast<char*>(to + l * strip + w), strip * bytes, reinterpret_cast<const char*>(from + w * across + l),
          across * bytes, std::make_index_sequence<n>());
  return l;
}

/// Packs `strip` rows of a, or columns of b: to[l * strip + w] = from[l * down + w * across] for l < depth. If fewer are there,
/// zeros take the others' places.
template <class T, int strip>
[[gnu::noinline]] void pack_strip(Index depth, Index there, const T* from, Index down, Index across, sum_t<T>* to) {
  constexpr Index square = expr::packet_bytes / Index(sizeof(T));
  Index l = 0;
  if (across == 1 && there >= strip) {
    for (; l < depth; ++l) std::memcpy(to + l * strip, from + l * down, strip * sizeof(T));
    return;
  }
  if constexpr (sizeof(T) >= 4)
    if (down == 1 && there >= strips_of(strip, square) * square) l = pack_squares<T, strip>(depth, from, across, to);
  for (; l < depth; ++l)
    for (Index w = 0; w < strip; ++w) to[l * strip + w] = w < there ? sum_t<T>(from[l * down + w * across]) : 0;
}

/// A panel of the product: rows and columns of c, and some of the products that are summed.
template <class T>
struct Panel {
  using B = BlockSizes<T>;
  using S = sum_t<T>;

  MatrixProduct<T> product;
  S *a, *b;  // packed, strip by strip

  Index down() const { return strips_of(product.m(), B::rows); }
  Index across() const { return strips_of(product.n(), B::columns); }

  /// Packs a's strips from first to last, counted together with b's, which follow.
  void pack(Index first, Index last) const {
    const auto& p = product;
    for (Index s = first; s < last; ++s)
      if (const Index i = s * B::rows; s < down())
        pack_strip<T, B::rows>(p.k(), p.m() - i, p.a.data + i * p.a.row, p.a.column, p.a.row, a + i * p.k());
      else if (const Index j = (s - down()) * B::columns; true)
        pack_strip<T, B::columns>(p.k(), p.n() - j, p.b.data + j * p.b.column, p.b.row, p.b.column,
                                  b + j * p.k());
  }

  /// Computes the tiles of strips [top, bottom) of a with one strip of b.
  [[gnu::noinline]] void multiply(Index top, Index bottom, Index strip) const {
    const auto& p = product;
    const Index j = strip * B::columns, columns = std::min<Index>(B::columns, p.n() - j);
    for (Index i = top * B::rows; i < std::min(bottom * B::rows, p.m()); i += B::rows) {
      const Index rows = std::min<Index>(B::rows, p.m() - i);
      T* const c = p.c + i * p.c_row + j;
      for (Index r = 0; r < rows; ++r) {  // c is far away
        __builtin_prefetch(c + r * p.c_row, 1);
        __builtin_prefetch(c + r * p.c_row + columns - 1, 1);
      }
      S sums[B::rows * B::columns];
      multiply_tile<S, B::rows, 2, false>(p.k(), a + i * p.k(), 1, B::rows, b + j * p.k(), B::columns, sums, B::columns);
      for (Index r = 0; r < rows; ++r)
        if (const S* at = sums + r * B::columns; columns < B::columns) store(p, i + r, j, columns, at);
        else
          for (int u = 0; u < B::columns; u += lanes<T>) store<lanes<T>>(p, i + r, j + u, load<lanes<T>>(at + u));
    }
  }

  /// Packs both operands, then computes c.
  void run() const {
    const Index tiles = down() * across();
    parallel_for(down() + across(), product.m() * product.n() * product.k() <= (Index(1) << 20) ? down() + across() : 4,
                 [this](Index first, Index last) { pack(first, last); });
    const Index tall = std::clamp<Index>(tiles / 64, 1, B::tall);
    parallel_for(strips_of(down(), tall) * across(), 1, [&, this](Index first, Index last) {
      for (Index t = first; t < last; ++t) {
        const Index top = t / across() * tall;
        multiply(top, top + tall, t % across());
      }
    });
  }
};

/// One matrix of a batch. Each sum's order depends only on the shape.
template <class T>
void blocked_matmul(const MatrixProduct<T>& p) {
  using B = BlockSizes<T>;
  const auto room = [](Index width, Index strip) { return strips_of(std::min(width, B::side), strip) * strip; };
  const Index depth = std::min(p.k(), B::depth), a_size = room(p.m(), B::rows) * depth;
  const Workspace<sum_t<T>> panels(a_size + room(p.n(), B::columns) * depth);
  for (Index j = 0; j < p.n(); j += B::side)
    for (Index l = 0; l < p.k(); l += B::depth)
      for (Index i = 0; i < p.m(); i += B::side) {
        Panel<T> panel{p, panels.get(), panels.get() + a_size};
        auto& part = panel.product;
        part.a.data += i * p.a.row + l * p.a.column;
        part.b.data += l * p.b.row + j * p.b.column;
        part.c += i * p.c_row + j;
        part.a.rows = std::min(B::side, p.m() - i);
        part.a.columns = part.b.rows = std::min(B::depth, p.k() - l);
        part.b.columns = std::min(B::side, p.n() - j);
        if (p.bias) part.bias = l == 0 ? p.bias + j : nullptr;
        part.accumulate = p.accumulate || l > 0;
        panel.run();
      }
}

}  // namespace matmul_detail
}  // namespace backend
}  // namespace tern
