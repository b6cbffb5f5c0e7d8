// Powers and exponentials of matrices.
#pragma once
#include "inv.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Up to which norm the Taylor polynomial of degree 16 gives exp within T's rounding.
template <class T>
inline constexpr double taylor_reach = std::is_same_v<T, float> ? 2 : 0.75;

/// Σ x^i / i! for i ≤ 16, by six products (Paterson, Stockmeyer: "On the number of nonscalar multiplications necessary
/// to evaluate polynomials", 1973).
template <class D, class T>
Tensor<D, T> taylor_exp(const Tensor<D, T>& x) {
  const Tensor<D, T> one = identity_of(x), x2 = matmul(x, x), x3 = matmul(x2, x), x4 = matmul(x2, x2);
  double inverses[17] = {1};  // of the factorials
  for (int i = 1; i <= 16; ++i) inverses[i] = inverses[i - 1] / i;
  Tensor<D, T> y = mul(x4, inverses[16]);
  for (int i = 12;; i -= 4) {
    y = add(y, add(add(mul(one, inverses[i]), mul(x, inverses[i + 1])),
                   add(mul(x2, inverses[i + 2]), mul(x3, inverses[i + 3]))));
    if (i == 0) return y;
    y = matmul(x4, y);
  }
}

/// exp(x) = exp(x / 2^s)^(2^s), with an s for each matrix.
template <class D, class T>
Tensor<D, T> scaled_exp(const Tensor<D, T>& x) {
  if (x.numel() == 0) return clone(x);
  const Tensor<D, T> norm = amax(sum(abs(x.detach()), -2, true), -1, true),
                     halvings = clamp_min(ceil(log2(div(norm, taylor_reach<T>))), 0),
                     s = where(isfinite(halvings), halvings, 0);
  Tensor<D, T> y = taylor_exp(mul(x, exp2(neg(s))));
  const int most = int(amax(s).item());
  for (int i = 0; i < most; ++i) y = where(gt(s, i), matmul(y, y), y);
  return y;
}

}  // namespace detail

namespace linalg {

/// The product of n factors a [.., n, n]; of -n factors a⁻¹ (on the CPU) for negative n; 1 for n = 0. Error if n is
/// negative and a matrix singular.
template <Device D, Floating T>
Tensor<D, T> matrix_power(const Tensor<D, T>& a, Index n, CallSite here = {}) {
  const CallScope scope({"matrix_power", here});
  detail::check_square("matrix_power", *a.checked("matrix_power"));
  if (n == 0) return clone(expand(detail::identity_of(a), a.shape()), here);
  if (n == 1) return clone(a, here);
  Tensor<D, T> square = a, y;
  if (n < 0) {
    if constexpr (detail::backend::HasKernel<D, detail::backend::Inverse, T>) square = inv(a, here);
    else Error::fail({"matrix_power", here}, {"inverses are computed on the CPU: move the tensor with .cpu()"});
  }
  for (std::uint64_t left = n < 0 ? 0 - std::uint64_t(n) : std::uint64_t(n);; square = matmul(square, square, here)) {
    if (left % 2) y = y.defined() ? matmul(y, square, here) : square;
    if ((left /= 2) == 0) return y;
  }
}

/// Σ aⁱ / i!, for a [.., n, n].
template <Device D, Floating T>
Tensor<D, T> matrix_exp(const Tensor<D, T>& a, CallSite here = {}) {
  const CallScope scope({"matrix_exp", here});
  detail::check_square("matrix_exp", *a.checked("matrix_exp"));
  return detail::rounded_once([](const auto& x) { return detail::scaled_exp(x); }, a);
}

}  // namespace linalg
}}  // namespace tern
