// Matrix products so small that packing them, or calling a library, costs more than the product.
#pragma once
#include "matmul_sums.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace matmul_detail {

/// c[i … i + R, j … j + W): the sums stay in R registers.
template <int R, int W, class T>
void small_tile(const MatMul<T>& p, Index i, Index j) {
  Lanes<sum_t<T>, W> sums[R] = {};
  const T *a = p.a + i * p.a_row, *b = p.b + j * p.b_col;
  for (Index l = 0; l < p.k; ++l) {
    const auto row = load<W>(b + l * p.b_row, p.b_col);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[r] += sum_t<T>(a[r * p.a_row + l * p.a_col]) * row;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) store<W>(p, i + r, j, sums[r]);
}

template <int W, class T>
Index small_columns(const MatMul<T>& p, Index j) {
  for (; j + W <= p.n; j += W) {
    Index i = 0;
    for (; i + 8 <= p.m; i += 8) small_tile<8, W>(p, i, j);
    for (; i < p.m; ++i) small_tile<1, W>(p, i, j);
  }
  return j;
}

/// One matrix of a batch.
template <class T>
void small_matmul(const MatMul<T>& p) {
  Index j = small_columns<lanes<T>>(p, 0);
  if constexpr (lanes<T> > 4) j = small_columns<4>(p, j);
  small_columns<1>(p, j);
}

}  // namespace matmul_detail
}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
