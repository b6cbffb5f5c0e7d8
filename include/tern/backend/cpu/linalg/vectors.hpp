// Loops over vectors and matrices that the factorisations of our own are made of. A vector's elements are adjacent, and
// so are a matrix's rows.
#pragma once
#include "../loops/workspace.hpp"
#include "../matmul/matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

using matmul_detail::dot;

/// y += a x.
template <class T>
void add_scaled(Index n, T a, const T* x, T* y) {
  constexpr int W = matmul_detail::lanes<T>;
  const Index whole =
      n - n % W;  // g++ sees that nothing is left of a constant n, and warned of a loop without end where it did not
  for (Index i = 0; i < whole; i += W) {
    const auto sum = matmul_detail::load<W>(y + i) + a * matmul_detail::load<W>(x + i);
    std::memcpy(y + i, &sum, sizeof sum);
  }
  for (Index i = whole; i < n; ++i) y[i] += a * x[i];
}

/// x *= a.
template <class T>
void scale(Index n, T a, T* x) {
  for (Index i = 0; i < n; ++i) x[i] *= a;
}

/// x, y = c x + s y, c y - s x.
template <class T>
void rotate(Index n, T* x, T* y, T c, T s) {
  constexpr int W = matmul_detail::lanes<T>;
  Index i = 0;
  for (; i + W <= n; i += W) {
    const auto u = matmul_detail::load<W>(x + i), v = matmul_detail::load<W>(y + i);
    const auto first = c * u + s * v, second = c * v - s * u;
    std::memcpy(x + i, &first, sizeof first);
    std::memcpy(y + i, &second, sizeof second);
  }
  for (; i < n; ++i) {
    const T u = x[i], v = y[i];
    x[i] = c * u + s * v;
    y[i] = c * v - s * u;
  }
}

/// y = a x, for a of `rows` rows that are `row` apart. Four rows at a time share the loads of x.
template <class T>
void multiply_vector(Index rows, Index columns, const T* a, Index row, const T* x, T* y) {
  constexpr int W = matmul_detail::lanes<T>;
  Index i = 0;
  for (; i + 4 <= rows; i += 4, a += 4 * row) {
    matmul_detail::Lanes<T, W> sums[4] = {};
    Index j = 0;
    for (; j + W <= columns; j += W) {
      const auto part = matmul_detail::load<W>(x + j);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) sums[r] += matmul_detail::load<W>(a + r * row + j) * part;
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) y[i + r] = matmul_detail::total<T, W>(sums[r]);
    for (; j < columns; ++j)
      for (int r = 0; r < 4; ++r) y[i + r] += a[r * row + j] * x[j];
  }
  for (; i < rows; ++i, a += row) y[i] = dot(columns, a, x);
}

/// to [columns, rows] = the transpose of from [rows, columns], both dense. It goes by small blocks, so that columns a
/// power of two apart do not evict each other from the cache.
template <class T>
void transpose(Index rows, Index columns, const T* from, T* to) {
  constexpr Index block = 16;
  for (Index top = 0; top < rows; top += block)
    for (Index j = 0; j < columns; ++j)
      for (Index i = top; i < std::min(top + block, rows); ++i) to[j * rows + i] = from[i * columns + j];
}

/// A matrix with these rows.
template <class T>
matmul_detail::StridedMatrix<T> by_rows(const T* data, Index rows, Index columns, Index row) {
  return {data, rows, columns, row, 1, 0};
}
/// The same, transposed.
template <class T>
matmul_detail::StridedMatrix<T> by_columns(const T* data, Index rows, Index columns, Index column) {
  return {data, rows, columns, 1, column, 0};
}

/// c = a b, or with add c += a b; c's rows are c_row apart.
template <class T>
void multiply(const matmul_detail::StridedMatrix<T>& a, const matmul_detail::StridedMatrix<T>& b, T* c, Index c_row,
              bool add = false) {
  if (a.rows == 0 || b.columns == 0) return;
  if (a.columns == 0) {
    for (Index i = 0; i < a.rows && !add; ++i) std::fill_n(c + i * c_row, b.columns, T(0));
    return;
  }
  matmul_detail::one_matmul(matmul_detail::MatrixProduct<T>{.a = a, .b = b, .c = c, .c_row = c_row, .accumulate = add});
}

}}}  // namespace tern::detail::backend::linalg_detail
