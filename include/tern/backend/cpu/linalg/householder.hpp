// Householder's reflections H = 1 - t v vᵀ, with v₀ = 1, and blocks of them.
#pragma once
#include <cmath>
#include <limits>

#include "vectors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

inline constexpr Index reflection_block = 32;

/// Below this, the sum of squares has lost digits to underflow.
template <class T>
inline constexpr T vanishing_square = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// Turns x into the v of the reflection that maps x to a multiple of the first unit vector. Gives t and the multiple.
/// The matrix's elements must be at most about 1: those whose squares vanish are taken for 0.
template <class T>
T reflection(Index n, T* x, T& multiple) {
  const T tail = dot(n - 1, x + 1, x + 1), first = x[0];
  multiple = first;
  x[0] = 1;
  if (tail <= vanishing_square<T>) return 0;
  const T length = std::sqrt(first * first + tail);
  multiple = first < 0 ? length : -length;
  scale(n - 1, 1 / (first - multiple), x + 1);
  return (multiple - first) / multiple;
}

/// The triangular factor t of a block of reflections, H₀ H₁ ⋯ = 1 - Vᵀ t V. V has the vectors of the reflections as
/// rows, of n elements, with zeros before their ones. t is [count, count], row-major.
template <class T>
void block_factor(Index count, Index n, const T* v, Index row, const T* taus, T* t) {
  const Workspace<T> products(count * count);
  const T* const g = products.get();
  multiply(by_rows(v, count, n, row), by_columns(v, n, count, row), products.get(), count);
  std::fill_n(t, count * count, T(0));
  for (Index j = 0; j < count; ++j) {
    t[j * count + j] = taus[j];
    for (Index i = 0; i < j; ++i) {
      T sum = 0;
      for (Index l = i; l < j; ++l) sum += t[i * count + l] * g[l * count + j];
      t[i * count + j] = -taus[j] * sum;
    }
  }
}

/// x = x H₀ H₁ ⋯, for `rows` rows of n elements, or with reverse x = x ⋯ H₁ H₀.
template <class T>
void reflect_rows(Index rows, Index n, T* x, Index x_row, Index count, const T* v, Index v_row, const T* taus,
                  bool reverse) {
  if (rows == 0) return;
  const Workspace<T> memory(count * (count + 2 * rows));
  T *const t = memory.get(), *const xv = t + count * count, *const xvt = xv + rows * count;
  block_factor(count, n, v, v_row, taus, t);
  scale(count * count, T(-1), t);
  multiply(by_rows<T>(x, rows, n, x_row), by_columns(v, n, count, v_row), xv, count);
  multiply(by_rows<T>(xv, rows, count, count),
           reverse ? by_columns<T>(t, count, count, count) : by_rows<T>(t, count, count, count), xvt, count);
  multiply(by_rows<T>(xvt, rows, count, count), by_rows(v, count, n, v_row), x, x_row, true);
}

/// x = x Qᵀ for the product Q of `reflections` ones. Their vectors are the rows of v [reflections, n]; that of row i
/// starts at column i + shift. x has `rows` rows of n elements.
template <class T>
void reflect_back(Index rows, Index n, T* x, Index reflections, const T* v, const T* taus, Index shift) {
  for (Index start = (reflections - 1) / reflection_block * reflection_block; start >= 0; start -= reflection_block) {
    const Index count = std::min(reflection_block, reflections - start), first = start + shift;
    if (first < n) reflect_rows(rows, n - first, x + first, n, count, v + start * n + first, n, taus + start, true);
  }
}

/// Reduces columns [n, m] of a matrix to those of R in its QR factorisation: zeros after element i of column i. Row i
/// of v [min(m, n), m] gets the vector of reflection i, zeros before it, and taus its factor.
template <class T>
void reduce_to_triangular(Index m, Index n, T* columns, T* v, T* taus) {
  const Index k = std::min(m, n);
  for (Index start = 0; start < k; start += reflection_block) {
    const Index next = std::min(start + reflection_block, k);
    for (Index j = start; j < next; ++j) {
      T *const column = columns + j * m, *const x = v + j * m;
      std::fill_n(x, j, T(0));
      std::copy_n(column + j, m - j, x + j);
      taus[j] = reflection(m - j, x + j, column[j]);
      std::fill_n(column + j + 1, m - j - 1, T(0));
      for (Index i = j + 1; i < next; ++i) {
        T* const other = columns + i * m + j;
        add_scaled(m - j, -taus[j] * dot(m - j, x + j, other), x + j, other);
      }
    }
    reflect_rows(n - next, m - start, columns + next * m + start, m, next - start, v + start * m + start, m,
                 taus + start, false);
  }
}

/// The first p columns of the Q that reduce_to_triangular's k reflections make, as rows of q [p, m], p >= k.
template <class T>
void columns_of_q(Index m, Index p, Index k, const T* v, const T* taus, T* q) {
  std::fill_n(q, p * m, T(0));
  for (Index i = 0; i < p; ++i) q[i * (m + 1)] = 1;
  for (Index start = (k - 1) / reflection_block * reflection_block; start >= 0;
       start -= reflection_block)  // rows before: unchanged
    reflect_rows(p - start, m - start, q + start * (m + 1), m, std::min(reflection_block, k - start),
                 v + start * (m + 1), m, taus + start, true);
}

}}}  // namespace tern::detail::backend::linalg_detail
