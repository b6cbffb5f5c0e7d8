// Matrices in upper bidiagonal form, A = Q B Pᵀ, by reflections from both sides in turn.
#pragma once
#include "householder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// Reduces a [n, n]. d [n] and e [n - 1] get B's diagonals. Row i of left [n, n] and right [n, n] gets the vector of
/// reflection i of Q and of P, zeros before it; left_taus and right_taus [n] get their factors.
template <class T>
void reduce_to_bidiagonal(Index n, T* a, T* d, T* e, T* left, T* left_taus, T* right, T* right_taus) {
  std::fill_n(left, n * n, T(0));
  std::fill_n(right, n * n, T(0));
  const Workspace<T> memory(2 * n);
  T *const y = memory.get(), *const x = y + n;
  for (Index j = 0; j < n; ++j) {
    const Index rest = n - j - 1;
    T *const v = left + j * n, *const w = right + j * n, *const row = a + j * n + j + 1;
    for (Index i = j; i < n; ++i) v[i] = a[i * n + j];
    const T tau = left_taus[j] = reflection(rest + 1, v + j, d[j]);
    right_taus[j] = 0;
    if (rest == 0) break;
    // From the left, a -= tau v yᵀ with y = aᵀ v. That changes row j, which gives the reflection w from the right,
    // a -= x wᵀ with x = (a - tau v yᵀ) w. Both happen to the rest of a at once.
    std::fill_n(y, rest, T(0));
    for (Index i = j; i < n; ++i) add_scaled(rest, v[i], a + i * n + j + 1, y);
    add_scaled(rest, -tau, y, row);
    std::copy_n(row, rest, w + j + 1);
    const T sigma = right_taus[j] = reflection(rest, w + j + 1, e[j]);
    multiply_vector(rest, rest, a + (j + 1) * n + j + 1, n, w + j + 1, x);
    add_scaled(rest, -tau * dot(rest, y, w + j + 1), v + j + 1, x);
    for (Index i = 0; i < rest; ++i) {
      add_scaled(rest, -tau * v[j + 1 + i], y, a + (j + 1 + i) * n + j + 1);
      add_scaled(rest, -sigma * x[i], w + j + 1, a + (j + 1 + i) * n + j + 1);
    }
  }
}

}}}  // namespace tern::detail::backend::linalg_detail
