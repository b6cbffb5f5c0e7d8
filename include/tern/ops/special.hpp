// The error function, and the gamma function with its derivatives.
#pragma once
#include "exponential.hpp"

namespace tern { inline namespace TERN_BUILD {

/// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
TERN_UNARY_BY_HAND(erf, erf(x), x, 1.12837916709551257390 * g * exp(-x * x))
/// 1 - erf(x), accurate for large x.
TERN_UNARY_BY_HAND(erfc, erfc(x), x, -1.12837916709551257390 * g * exp(-x * x))
/// The inverse of erf.
TERN_UNARY_BY_HAND(erfinv, erfinv(x), y, 0.88622692545275801365 * g * exp(y * y))

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
