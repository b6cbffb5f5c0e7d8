// Matrix products that are so small that packing them or calling a library takes longer than the product.
#pragma once
#include <cstring>

#include "matmul_sums.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace matmul_detail {

/// c[i … i + R, j … j + W). The sums stay in R registers.
template <int R, int W, class T>
void small_tile(const MatrixProduct<T>& p, Index i, Index j) {
  Lanes<T, W> sums[R] = {};
  const T *a = p.a.data + i * p.a.row, *b = p.b.data + j * p.b.column;
  const Index a_row = p.a.row, a_col = p.a.column, b_row = p.b.row, b_col = p.b.column;
  for (Index l = 0; l < p.k(); ++l, a += a_col, b += b_row) {
    const auto row = load<W>(b, b_col);
    const T* at = a;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r, at += a_row) sums[r] = Lanes<T, W>(sums[r] + sum_t<T>(*at) * row);
  }
  Lanes<T, W> done[R];  // a separate array is indexed in a loop, so that the sums themselves stay in registers
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) done[r] = sums[r];
  for (int r = 0; r < R; ++r) store<W>(p, i + r, j, done[r]);
}

template <int W, class T>
Index small_columns(const MatrixProduct<T>& p, Index j) {
  for (; j + W <= p.n(); j += W) {
    Index i = 0;
    for (; i + 8 <= p.m(); i += 8) small_tile<8, W>(p, i, j);
    for (; i < p.m(); ++i) small_tile<1, W>(p, i, j);
  }
  return j;
}

/// The sum of the lanes, added by halves.
template <class T, int W>
sum_t<T> total(Lanes<T, W> x) {
  if constexpr (W == 1) return x;
  else {
    Lanes<T, W / 2> halves[2];
    std::memcpy(halves, &x, sizeof x);
    return total<T, W / 2>(halves[0] + halves[1]);
  }
}

/// The dot product of up to `deepest` elements.
template <class T>
sum_t<T> short_dot(Index k, const T* a, const T* b) {
  constexpr int W = lanes<T>;
  Lanes<T, W> sums[4] = {};
  Index l = 0;
  for (; l + 4 * W <= k; l += 4 * W)
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) sums[u] += load<W>(a + l + u * W) * load<W>(b + l + u * W);
  for (; l + W <= k; l += W) sums[0] += load<W>(a + l) * load<W>(b + l);
  sum_t<T> sum = total<T, W>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; l < k; ++l) sum = sum_t<T>(sum + sum_t<T>(a[l]) * sum_t<T>(b[l]));
  return sum;
}

template <class T>
sum_t<T> dot(Index k, const T* a, const T* b) {
  if (k <= deepest) return short_dot(k, a, b);
  total_t<T> sum = 0;
  for (Index l = 0; l < k; l += deepest) sum += short_dot(std::min(deepest, k - l), a + l, b + l);
  return sum_t<T>(sum);
}

/// True if both operands are dense along k and few vector products are needed.
template <class T>
bool is_dots(const MatrixProduct<T>& p) {
  return p.a.column == 1 && p.b.row == 1 && (p.m() < 4 || p.n() < 4);
}

/// One matrix of a batch.
template <class T>
void small_matmul(const MatrixProduct<T>& p) {
  if (is_dots(p)) {
    for (Index i = 0; i < p.m(); ++i)
      for (Index j = 0; j < p.n(); ++j)
        store<1>(p, i, j, dot(p.k(), p.a.data + i * p.a.row, p.b.data + j * p.b.column));
    return;
  }
  Index j = small_columns<lanes<T>>(p, 0);
  if constexpr (lanes<T> > 4) j = small_columns<4>(p, j);
  small_columns<1>(p, j);
}

}  // namespace matmul_detail
}  // namespace detail::backend
}}  // namespace tern
