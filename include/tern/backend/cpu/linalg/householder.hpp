// Householder's reflections H = 1 - t v vᵀ, with v₀ = 1, and blocks of them.
#pragma once
#include <cmath>
#include <limits>

#include "vectors.hpp"

namespace tern::inline TERN_BUILD::backend::linalg_detail {

inline constexpr Index reflection_block = 32;

/// Below this, the sum of squares has lost digits to underflow.
template <class T>
inline constexpr T vanishing_square = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// Turns x into the v of the reflection that maps x to a multiple of the first unit vector. Gives t and the multiple. The
/// matrix's elements must be at most about 1: those whose squares vanish are taken for 0.
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

/// The triangular factor t of a block of reflections, H₀ H₁ ⋯ = 1 - Vᵀ t V. V has the vectors of the reflections as rows, of
/// n elements, with zeros before their ones. t is [count, count], row-major.
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

/// x = x (1 - Vᵀ t V)ᵀ, for `rows` rows of n elements: the reflections of a block in reverse order, from the right.
template <class T>
void reflect_rows(Index rows, Index n, T* x, Index x_row, Index count, const T* v, Index v_row, const T* taus) {
  const Workspace<T> memory(count * (count + 2 * rows));
  T *const t = memory.get(), *const xv = t + count * count, *const xvt = xv + rows * count;
  block_factor(count, n, v, v_row, taus, t);
  scale(count * count, T(-1), t);
  multiply(by_rows<T>(x, rows, n, x_row), by_columns(v, n, count, v_row), xv, count);
  multiply(by_rows<T>(xv, rows, count, count), by_columns<T>(t, count, count, count), xvt, count);
  multiply(by_rows<T>(xvt, rows, count, count), by_rows(v, count, n, v_row), x, x_row, true);
}

/// x = x Qᵀ for the product Q of `reflections` ones. Their vectors are the rows of v [reflections, n]; that of row i starts at
/// column i + shift. x has `rows` rows of n elements.
template <class T>
void reflect_back(Index rows, Index n, T* x, Index reflections, const T* v, const T* taus, Index shift) {
  for (Index start = (reflections - 1) / reflection_block * reflection_block; start >= 0; start -= reflection_block) {
    const Index count = std::min(reflection_block, reflections - start), first = start + shift;
    if (first < n) reflect_rows(rows, n - first, x + first, n, count, v + start * n + first, n, taus + start);
  }
}

}  // namespace tern::backend::linalg_detail
