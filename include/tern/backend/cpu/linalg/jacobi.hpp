// Singular values of small matrices by rotations that make the rows orthogonal (Hestenes, 1958). It is slow for large
// matrices, and exact also for the small singular values.
#pragma once
#include "householder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// Makes row `at` of x, whose `others` first rows are orthonormal, a unit vector that is orthogonal to them.
template <class T>
void complete_basis(Index at, Index others, Index n, T* x, Index row) {
  Index best = 0;
  T least = std::numeric_limits<T>::max();
  for (Index i = 0; i < n; ++i) {  // the axis that is farthest from their span
    T inside = 0;
    for (Index j = 0; j < others; ++j) inside += x[j * row + i] * x[j * row + i];
    if (inside < least) least = inside, best = i;
  }
  T* const v = x + at * row;
  std::fill_n(v, n, T(0));
  v[best] = 1;
  for (int twice = 0; twice < 2; ++twice) {
    for (Index j = 0; j < others; ++j) add_scaled(n, -dot(n, x + j * row, v), x + j * row, v);
    scale(n, 1 / std::sqrt(dot(n, v, v)), v);
  }
}

/// a [m, n], m <= n, becomes Vᵀ with orthonormal rows: a = U diag(s) Vᵀ for the first m of its n + extra rows, s in
/// descending order. u [m, m] gets U's columns as rows. The `extra` rows complete the basis.
template <class T>
void jacobi_svd(Index m, Index n, Index extra, T* a, Index row, T* u, Index u_row, T* s) {
  constexpr T eps = std::numeric_limits<T>::epsilon();
  const auto square = [n](const T* x) {
    const T sum = dot(n, x, x);
    return sum <= vanishing_square<T> ? T(0) : sum;
  };
  for (Index i = 0; i < m; ++i) {
    std::fill_n(u + i * u_row, m, T(0));
    u[i * u_row + i] = 1;
    s[i] = square(a + i * row);
  }
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < 40; ++sweep) {
    rotated = false;
    for (Index i = 0; i < m; ++i)
      for (Index j = i + 1; j < m; ++j) {
        T *const x = a + i * row, *const y = a + j * row;
        if (s[i] < s[j]) {  // the larger row first
          rotate(n, x, y, T(0), T(1));
          rotate(m, u + i * u_row, u + j * u_row, T(0), T(1));
          std::swap(s[i], s[j]);
        }
        const T product = dot(n, x, y);
        if (s[j] == 0 || !(std::abs(product) > 4 * eps * std::sqrt(s[i]) * std::sqrt(s[j]))) continue;
        rotated = true;
        const T ratio = (s[i] - s[j]) / (2 * product),
                tangent = std::copysign(T(1), ratio) / (std::abs(ratio) + std::hypot(T(1), ratio));
        const T c = 1 / std::hypot(T(1), tangent), sine = c * tangent;
        rotate(n, x, y, c, sine);
        rotate(m, u + i * u_row, u + j * u_row, c, sine);
        s[i] = square(x);
        s[j] = square(y);
      }
  }
  for (Index i = 0; i < m; ++i) {
    s[i] = std::sqrt(s[i]);
    if (s[i] > 0) scale(n, 1 / s[i], a + i * row);
    else complete_basis(i, i, n, a, row);
  }
  for (Index i = m; i < m + extra; ++i) complete_basis(i, i, n, a, row);
}

}}}  // namespace tern::detail::backend::linalg_detail
