// The error function, the normal distribution, entropy, and the gamma function with its derivatives.
#pragma once
#include <cmath>

#include "exponential.hpp"

namespace tern { inline namespace TERN_BUILD {

/// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
TERN_UNARY_BY_HAND(erf, erf(x), x, 1.12837916709551257390 * g * exp(-x * x))
/// 1 - erf(x), accurate for large x.
TERN_UNARY_BY_HAND(erfc, erfc(x), x, -1.12837916709551257390 * g * exp(-x * x))
/// The inverse of erf.
TERN_UNARY_BY_HAND(erfinv, erfinv(x), y, 0.88622692545275801365 * g * exp(y * y))

/// The probability that a standard normal variable is below x, accurate for very negative x.
template <Device D, Floating T>
Tensor<D, T> ndtr(const Tensor<D, T>& x, CallSite here = {}) {
  const auto f = [](auto v) { return 0.5 * erfc(-0.70710678118654752440 * v); };
  return detail::unary({"ndtr", here}, x, f,
                       [](auto g, auto v) { return g * (0.39894228040143267794 * exp(-0.5 * v * v)); });
}

namespace detail {
/// phi(z) / (1 - Phi(z)) of the standard normal distribution for z >= 6: Laplace's continued fraction.
inline constexpr auto normal_hazard = [](auto z) {
  auto d = z;
  for (int k = 16; k > 0; --k) d = z + k / d;
  return d;
};
}  // namespace detail

/// log(ndtr(x)), also where ndtr(x) underflows.
template <Device D, Floating T>
Tensor<D, T> log_ndtr(const Tensor<D, T>& x, CallSite here = {}) {
  const auto f = [](auto v) {
    const auto tail = erfc(0.70710678118654752440 * where(v < -1, -v, v));
    const auto far = -0.5 * v * v - 0.91893853320467274178 - log(detail::normal_hazard(where(v < -6, -v, 6)));
    return where(v < -6, far, where(v < -1, log(0.5 * tail), log1p(-0.5 * tail)));
  };
  return detail::unary({"log_ndtr", here}, x, f, [](auto g, auto v) {
    const auto near = where(v < -6, -6, v);
    return g * where(v < -6, detail::normal_hazard(where(v < -6, -v, 6)),
                     0.79788456080286535588 * exp(-0.5 * near * near) / erfc(-0.70710678118654752440 * near));
  });
}

/// -x log(x): 0 at 0, and -inf for negative x.
template <Device D, Floating T>
Tensor<D, T> entr(const Tensor<D, T>& x, CallSite here = {}) {
  const auto f = [](auto v) { return where(v > 0, -v * log(v), where(v < 0, -INFINITY, v)); };
  return detail::unary({"entr", here}, x, f, [](auto g, auto v) { return -g * (1 + log(v)); });
}

/// The n-th derivative of digamma, n >= 1; digamma itself for n = 0. Error for n < 0, and where a float would round n.
template <Device D, Floating T>
Tensor<D, T> polygamma(Index order, const Tensor<D, T>& x, CallSite here = {}) {
  if (order < 0) Error::fail({"polygamma", here}, {"the order must not be negative, but it is ", order});
  if (order >= 1 << 24) Error::fail({"polygamma", here}, {"the order must be less than 2^24, but it is ", order});
  const int n = int(order);
  const auto f = [n](auto v) { return n == 0 ? digamma(v) : polygamma(n, v); };
  return detail::unary({"polygamma", here}, x, f, [n](auto g, auto v) { return g * polygamma(n + 1, v); });
}
/// The logarithmic derivative of the gamma function.
TERN_UNARY_BY_HAND(digamma, digamma(x), x, g* polygamma(1, x))
/// log |gamma(x)|.
TERN_UNARY_BY_HAND(lgamma, lgamma(x), x, g* digamma(x))

}}  // namespace tern
