// The matrix product of one row or few. It takes as long as reading b, so b is read once, in the order in which it lies
// in memory, and 16-bit elements become floats in registers.
#pragma once
#include "../../../core/parallel.hpp"
#include "../loops/workspace.hpp"
#include "small_matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace matmul_detail {

/// Up to so many rows, one reading of b serves all of them.
inline constexpr int few_rows = 4;

/// True if a has few rows, and b's elements are adjacent along its rows or columns.
template <class T>
bool is_few_rows(const MatrixProduct<T>& p) {
  return p.m() <= few_rows && (p.b.row == 1 || p.b.column == 1);
}

/// Columns of a product with R rows, of which c has the first p.m(). a holds them as numbers to calculate with, k
/// apart.
template <int R, class T>
struct FewRows {
  using S = sum_t<T>;
  static constexpr int W = lanes<T>;

  const MatrixProduct<T>& p;
  const S* a;
  Index k = p.k();

  /// The dot products of rows l to `end` of C columns from j on, whose elements are adjacent.
  template <int C>
  [[gnu::always_inline]] void dot_products(Index j, Index l, Index end, S (&totals)[R][C]) const {
    const T* const b = p.b.data + j * p.b.column;
    Lanes<T, W> sums[R][C] = {};
    for (; l + W <= end; l += W) {
      Lanes<T, W> x[C];
      for (int u = 0; u < C; ++u) {
        x[u] = load<W>(b + u * p.b.column + l);
        __builtin_prefetch(b + (u + C) * p.b.column + l, 0, 2);
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < C; ++u) sums[r][u] += load<W>(a + r * k + l) * x[u];
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < C; ++u) totals[r][u] = total<T, W>(sums[r][u]);
    for (; l < end; ++l)
      for (int u = 0; u < C; ++u)
        for (int r = 0; r < R; ++r) totals[r][u] = S(totals[r][u] + a[r * k + l] * S(b[u * p.b.column + l]));
  }

  /// The same of all rows, if they are more than `deepest`.
  template <int C>
  [[gnu::noinline]] void deep_dot_products(Index j, S (&sums)[R][C]) const {
    total_t<T> totals[R][C] = {};
    for (Index l = 0; l < k; l += deepest) {
      dot_products<C>(j, l, std::min(k, l + deepest), sums);
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < C; ++u) totals[r][u] += sums[r][u];
    }
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < C; ++u) sums[r][u] = S(totals[r][u]);
  }

  /// Columns from j on, C at a time, of a b whose columns have adjacent elements: dot products. Returns where it ended.
  template <int C>
  Index dots(Index j, Index last) const {
    for (; j + C <= last; j += C) {
      S sums[R][C];
      if (k <= deepest) dot_products<C>(j, 0, k, sums);
      else deep_dot_products<C>(j, sums);
      for (Index r = 0; r < p.m(); ++r) store(p, r, j, C, sums[r]);
    }
    return j;
  }

  /// Adds U rows of b, from row l on, to the sums of columns from j on, as many as fill registers of N.
  template <int U, int N>
  Index add_rows(Index l, Index first, Index j, Index last, S* sums, Index width) const {
    const T* const b = p.b.data + l * p.b.row;
    const Index ahead = l + 2 * U <= k ? U : 0;  // no row behind the last is fetched
    for (; j + N <= last; j += N) {
      Lanes<T, N> x[U];
      for (int u = 0; u < U; ++u) {
        x[u] = load<N>(b + u * p.b.row + j);
        __builtin_prefetch(b + (u + ahead) * p.b.row + j, 0, 2);
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        S* const to = sums + r * width + j - first;
        auto sum = load<N>(to);
        for (int u = 0; u < U; ++u) sum = Lanes<T, N>(sum + a[r * k + l + u] * x[u]);
        std::memcpy(to, &sum, sizeof sum);
      }
    }
    return j;
  }
  template <int U>
  [[gnu::noinline]] void add_rows(Index l, Index first, Index last, S* sums, Index width) const {
    add_rows<U, 1>(l, first, add_rows<U, W>(l, first, first, last, sums, width), last, sums, width);
  }

  /// The product with a b whose rows have adjacent elements. b is cut into blocks of some thousand columns, whose sums
  /// stay in the first-level cache; if these are few or the rows many, also into parts of its rows, with sums of their
  /// own. A task is adjacent in memory then.
  static constexpr Index widest = (1 << 15) / Index(sizeof(S)) / R;
  void rows() const {
    const Index n = p.n(), least = (n + widest - 1) / widest,
                wanted = std::clamp<Index>(n / 1024, least, std::max<Index>(8, least));
    const Index width = ((n + wanted - 1) / wanted + W - 1) / W * W, blocks = (n + width - 1) / width;
    const Index few =
        std::clamp<Index>(std::min(8 / blocks, k / 64), 1, 8);  // few rows would cost less than their sums
    const Index parts = std::max(few, (k + deepest - 1) / deepest);
    const Workspace<S> sums(parts * blocks * R * width);
    const auto finish = [&](Index block) {
      S* const to = sums.get() + block * R * width;
      for (Index half, count = parts; count > 1;
           count = half) {  // as a tree: a long sum of sums would lose digits, too
        half = (count + 1) / 2;
        for (Index part = half; part < count; ++part)
          for (Index u = 0; u < p.m() * width; ++u)
            to[(part - half) * blocks * R * width + u] += to[part * blocks * R * width + u];
      }
      for (Index r = 0; r < p.m(); ++r)
        store(p, r, block * width, std::min(width, p.n() - block * width), static_cast<const S*>(to + r * width));
    };
    detail::parallel_for(parts * blocks, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index part = i / blocks, block = i % blocks;
        const Index first = block * width, last = std::min(n, first + width), bottom = k * (part + 1) / parts;
        S* const to = sums.get() + (part * blocks + block) * R * width;
        std::fill_n(to, R * width, S(0));
        Index l = k * part / parts;
        for (; l + 8 <= bottom; l += 8) add_rows<8>(l, first, last, to, width);
        for (; l < bottom; ++l) add_rows<1>(l, first, last, to, width);
        if (parts == 1) finish(block);
      }
    });
    for (Index block = 0; parts > 1 && block < blocks; ++block) finish(block);
  }

  /// Of a b whose columns have adjacent elements, each thread has adjacent columns. Each sum's order depends only on
  /// the shape.
  void run(int threads) const {
    if (p.b.row != 1) return rows();
    const Index n = p.n(), registers_across = (n + W - 1) / W, parts = std::min<Index>(threads, registers_across);
    detail::parallel_for(parts, 1, [&](Index begin, Index end) {
      const Index first = begin * registers_across / parts * W, last = std::min(n, end * registers_across / parts * W);
      dots<1>(dots<4>(first, last), last);
    });
  }
};

/// One matrix of a batch, if is_few_rows.
template <class T>
void vector_matmul(const MatrixProduct<T>& p) {
  const Index k = p.k();
  const int rows = p.m() == 1 ? 1 : few_rows;
  const detail::ThreadLease lease(useful_threads(p));
  const Workspace<sum_t<T>> a(rows * k);
  std::fill(a.get() + p.m() * k, a.get() + rows * k, sum_t<T>(0));
  for (Index i = 0; i < p.m(); ++i)
    for (Index l = 0; l < k; ++l) a.get()[i * k + l] = sum_t<T>(p.a.data[i * p.a.row + l * p.a.column]);
  if (rows == 1) FewRows<1, T>{p, a.get()}.run(lease.count());
  else FewRows<few_rows, T>{p, a.get()}.run(lease.count());
}

}  // namespace matmul_detail
}  // namespace detail::backend
}}  // namespace tern
