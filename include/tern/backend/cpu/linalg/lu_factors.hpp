// LU factorisation with partial pivoting, by halves of the columns (Toledo: "Locality of reference in LU decomposition
// with partial pivoting", 1997).
#pragma once
#include <cmath>
#include <limits>
#include <utility>

#include "substitution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

inline constexpr Index lu_panel = 16;

/// Factors a [m, n], n <= lu_panel <= m or n == m, in a dense copy. Row i was exchanged with row pivots[i] >= i.
template <class T>
void factor_panel(Index m, Index n, T* a, Index row, Index* pivots) {
  const Workspace<T> memory(m * lu_panel);
  T* const panel = memory.get();
  for (Index i = 0; i < m; ++i) {
    std::copy_n(a + i * row, n, panel + i * lu_panel);
    std::fill_n(panel + i * lu_panel + n, lu_panel - n, T(0));
  }
  Index best = 0;
  for (Index i = 1; i < m; ++i)
    if (std::abs(panel[i * lu_panel]) > std::abs(panel[best * lu_panel])) best = i;
  for (Index j = 0; j < n; ++j) {
    pivots[j] = best;
    T* const top = panel + j * lu_panel;
    if (best != j) std::swap_ranges(top, top + lu_panel, panel + best * lu_panel);
    alignas(64)
        T beyond[lu_panel] = {};  // the row without the columns that are done, so that whole registers are subtracted
    std::copy_n(top + j + 1, lu_panel - j - 1, beyond + j + 1);
    const bool invertible = std::abs(top[j]) >= std::numeric_limits<T>::min();
    const T inverse = invertible ? 1 / top[j] : T(1);
    const Index next = std::min(j + 1, lu_panel - 1);
    T largest = -1;
    for (Index i = j + 1; i < m; ++i) {
      T* const x = panel + i * lu_panel;
      const T factor = invertible ? x[j] * inverse : top[j] != 0 ? x[j] / top[j] : T(0);
      add_scaled(lu_panel, -factor, beyond, x);
      x[j] = factor;
      if (std::abs(x[next]) > largest) largest = std::abs(x[next]), best = i;
    }
    if (largest < 0) best = j + 1;
  }
  for (Index i = 0; i < m; ++i) std::copy_n(panel + i * lu_panel, n, a + i * row);
}

/// a [m, n], n <= m, becomes L below its diagonal, whose ones are left out, and U: the exchanges of rows, in order,
/// make it L U.
template <class T>
void factor_lu(Index m, Index n, T* a, Index row, Index* pivots) {
  if (n <= lu_panel) return factor_panel(m, n, a, row, pivots);
  const Index left = (n / 2 + lu_panel - 1) / lu_panel * lu_panel, right = n - left;
  T *const right_of = a + left, *const below = a + left * row, *const rest = below + left;
  const auto exchange = [row](Index width, T* x, const Index* with, Index count) {
    for (Index i = 0; i < count; ++i)
      if (with[i] != i) std::swap_ranges(x + i * row, x + i * row + width, x + with[i] * row);
  };
  factor_lu(m, left, a, row, pivots);
  exchange(right, right_of, pivots, left);
  substitute(left, Triangle<T>{a, row, 1, false, true}, right, right_of, row);
  subtract_product<T>(m - left, left, right, below, row, 1, right_of, rest, row);
  factor_lu(m - left, right, rest, row, pivots + left);
  exchange(left, below, pivots + left, right);
  for (Index i = left; i < n; ++i) pivots[i] += left;
}

/// The factors of a square matrix.
template <class T>
struct LuFactors {
  Index n;
  Workspace<T> lu;
  Workspace<Index> pivots;

  LuFactors(Index size, const T* a) : n(size), lu(n * n), pivots(n) {
    std::copy_n(a, n * n, lu.get());
    if (n > 0) factor_lu(n, n, lu.get(), n, pivots.get());
  }
  Triangle<T> lower() const { return {lu.get(), n, 1, false, true}; }
  Triangle<T> upper() const { return {lu.get(), n, 1, true, false}; }
  T pivot(Index k) const { return lu.get()[k * (n + 1)]; }
};

}}}  // namespace tern::detail::backend::linalg_detail
