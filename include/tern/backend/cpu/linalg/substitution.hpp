// Triangular systems a x = b by substitution. Halves of the matrix give matrix products; at the end, the rows of a
// small block stay in registers.
#pragma once
#include "vectors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

inline constexpr int substitution_block = 16;

/// Rows j … j + W of x = a⁻¹ x for lower triangular a [n, n], n <= substitution_block, with any strides, also negative
/// ones.
template <int W, class T>
void substitute_columns(int n, const T* a, Index row, Index column, bool unit, T* x, Index x_row) {
  matmul_detail::Lanes<T, W> rows[substitution_block];
#pragma GCC unroll 16
  for (int i = 0; i < substitution_block; ++i) {
    if (i >= n) break;
    auto sum = matmul_detail::load<W>(x + i * x_row);
#pragma GCC unroll 16
    for (int k = 0; k < i; ++k) sum -= a[i * row + k * column] * rows[k];
    rows[i] = unit ? sum : sum / a[i * (row + column)];
    std::memcpy(x + i * x_row, &rows[i], sizeof rows[i]);
  }
}

/// A triangular matrix with any strides.
template <class T>
struct Triangle {
  const T* data;
  Index row, column;
  bool upper, unit;  // unit: its diagonal is not read

  const T* at(Index i, Index j) const { return data + i * row + j * column; }
  Triangle from(Index i) const { return {at(i, i), row, column, upper, unit}; }
};

/// out -= a x for a [rows, columns] with any strides, and x [columns, width].
template <class T>
void subtract_product(Index rows, Index columns, Index width, const T* a, Index row, Index column, const T* x, T* out,
                      Index x_row) {
  const Workspace<T> negative(rows * columns);
  T* to = negative.get();
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < columns; ++k) *to++ = -a[i * row + k * column];
  multiply(by_rows<T>(negative.get(), rows, columns, columns), by_rows(x, columns, width, x_row), out, x_row, true);
}

/// x = a⁻¹ x for x [n, width]. The other triangle of a is not read.
template <class T>
void substitute(Index n, Triangle<T> a, Index width, T* x, Index x_row) {
  if (n == 0) return;
  if (n > substitution_block) {
    const Index half = (n / 2 + substitution_block - 1) / substitution_block * substitution_block, rest = n - half;
    T* const lower_rows = x + half * x_row;
    if (a.upper) {
      substitute(rest, a.from(half), width, lower_rows, x_row);
      subtract_product<T>(half, rest, width, a.at(0, half), a.row, a.column, lower_rows, x, x_row);
      substitute(half, a, width, x, x_row);
    } else {
      substitute(half, a, width, x, x_row);
      subtract_product<T>(rest, half, width, a.at(half, 0), a.row, a.column, x, lower_rows, x_row);
      substitute(rest, a.from(half), width, lower_rows, x_row);
    }
    return;
  }
  if (a.upper) {  // a lower triangle from its end
    a = {a.at(n - 1, n - 1), -a.row, -a.column, false, a.unit};
    x += (n - 1) * x_row;
    x_row = -x_row;
  }
  constexpr int W = matmul_detail::lanes<T>;
  Index j = 0;
  for (; j + W <= width; j += W) substitute_columns<W>(int(n), a.data, a.row, a.column, a.unit, x + j, x_row);
  for (; j < width; ++j) substitute_columns<1>(int(n), a.data, a.row, a.column, a.unit, x + j, x_row);
}

}}}  // namespace tern::detail::backend::linalg_detail
