// The roots of f(λ) = 1 + Σ z_i² / (d_i - λ), for ascending d: the eigenvalues of diag(d) + z zᵀ. Each is found as its
// distance from the nearest d, so that all d_i - λ are known to the last digits (Li: "Solving secular equations stably
// and efficiently", 1993).
#pragma once
#include <cmath>
#include <limits>

#include "vectors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// f = 1 + left + right at a point, where `left` sums the poles up to one and `right` those beyond; and their
/// derivatives.
template <class T>
struct SecularValue {
  T left, right, left_derivative, right_derivative;

  T f() const { return 1 + left + right; }
  T derivative() const { return left_derivative + right_derivative; }
  /// How wrong f may be by rounding.
  T error() const { return 8 * std::numeric_limits<T>::epsilon() * (1 + std::abs(left) + std::abs(right)); }
};

/// The value where the poles are `delta` away.
template <class T>
void add_poles(Index begin, Index end, const T* delta, const T* z2, T& sum, T& derivative) {
  constexpr int W = matmul_detail::lanes<T>;
  using V = matmul_detail::Lanes<T, W>;
  V sums{}, derivatives{};
  Index i = begin;
  for (; i + W <= end; i += W) {
    const V d = matmul_detail::load<W>(delta + i), term = matmul_detail::load<W>(z2 + i) / d;
    sums += term;
    derivatives += term / d;
  }
  sum = matmul_detail::total<T, W>(sums);
  derivative = matmul_detail::total<T, W>(derivatives);
  for (; i < end; ++i) {
    const T term = z2[i] / delta[i];
    sum += term;
    derivative += term / delta[i];
  }
}
template <class T>
SecularValue<T> secular_value(Index n, Index split, const T* delta, const T* z2) {
  SecularValue<T> v;
  add_poles(0, split, delta, z2, v.left, v.left_derivative);
  add_poles(split, n, delta, z2, v.right, v.right_derivative);
  return v;
}

/// The step to the root of c + s / (a - x) + t / (b - x), which has f's value and derivatives at 0; a and b are the
/// distances of the two poles next to the root, or of the last two if the root is `beyond` both.
template <class T>
T rational_step(const SecularValue<T>& v, T a, T b, bool beyond) {
  const T f = v.f();
  T c = f - a * v.left_derivative - b * v.right_derivative;
  const T p = (a + b) * f - a * b * v.derivative(), q = a * b * f;
  if (beyond) c = std::abs(c);
  const T root = std::sqrt(std::abs(p * p - 4 * q * c));
  if (beyond) return p >= 0 ? (p + root) / (2 * c) : 2 * q / (p - root);
  return p <= 0 ? (p - root) / (2 * c) : 2 * q / (p + root);
}

/// Root j of n: its distance from d[origin], which it chooses. delta [n] gets all d_i - λ. distance(i, o) is d_i - d_o.
template <class T, class Distance>
T secular_root(Index n, Index j, const T* z2, const Distance& distance, T* delta, Index& origin) {
  const bool last = j == n - 1;
  T norm = 0;
  for (Index i = 0; i < n && last; ++i) norm += z2[i];
  const T width = last ? norm : distance(j + 1, j);
  const auto place = [&](T at) {
    for (Index i = 0; i < n; ++i) delta[i] = distance(i, origin) - at;
  };
  // The half of the interval that has the root: f increases.
  origin = j;
  place(width / 2);
  const bool upper_half = secular_value(n, j + 1, delta, z2).f() < 0;
  if (upper_half && !last) origin = j + 1;
  T low = upper_half && last ? width / 2 : 0, high = upper_half && last ? width : width / 2;
  if (origin != j) low = -width / 2, high = 0;
  T at = (low + high) / 2;
  // The poles between which f is interpolated.
  const Index a = last ? j - 1 : j, b = a + 1;
  for (int step = 0; step < 200; ++step) {
    place(at);
    const SecularValue<T> v = secular_value(n, b, delta, z2);
    const T f = v.f();
    if (std::abs(f) <= v.error()) break;
    (f < 0 ? low : high) = at;
    T next = n > 1 ? at + rational_step(v, delta[a], delta[b], last) : at - f / v.derivative();
    if (!((next - at) * f < 0)) next = at - f / v.derivative();
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (next == at || next == low || next == high) break;
    at = next;
  }
  place(at);
  return at;
}

/// The vector z for which the computed roots are exact, with the signs of z: eigenvectors made of it are orthogonal
/// however close roots are (Gu, Eisenstat: "A stable and efficient algorithm for the rank-one modification of the
/// symmetric eigenproblem", 1994). Row j of delta [n, row] has all d_i - λ_j.
template <class T, class Distance>
void recompute_z(Index n, const T* delta, Index row, const Distance& distance, T* z) {
  const Workspace<T> memory(n);
  T* const product = memory.get();
  for (Index i = 0; i < n; ++i) product[i] = -delta[i * row + i];
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) product[i] *= delta[j * row + i] / distance(i, j);
    for (Index i = j + 1; i < n; ++i) product[i] *= delta[j * row + i] / distance(i, j);
  }
  for (Index i = 0; i < n; ++i) z[i] = std::copysign(std::sqrt(std::max(product[i], T(0))), z[i]);
}

}}}  // namespace tern::detail::backend::linalg_detail
