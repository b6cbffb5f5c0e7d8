// Exponentials, logarithms and functions made of them.
#pragma once
#include "comparison.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// e^x.
TERN_UNARY_BY_HAND(exp, exp(x), y, g* y)
/// 2^x.
TERN_UNARY_BY_HAND(exp2, exp2(x), y, 0.69314718055994530942 * g * y)
/// e^x - 1, accurate for small x.
TERN_UNARY_BY_HAND(expm1, expm1(x), y, g*(y + 1))
/// The natural logarithm.
TERN_UNARY_BY_HAND(log, log(x), x, g / x)
/// The logarithm to base 2.
TERN_UNARY_BY_HAND(log2, log2(x), x, g / (0.69314718055994530942 * x))
/// The logarithm to base 10.
TERN_UNARY_BY_HAND(log10, log10(x), x, g / (2.30258509299404568402 * x))
/// log(1 + x), accurate for small x.
TERN_UNARY_BY_HAND(log1p, log1p(x), x, g / (x + 1))
/// 1 / (1 + e^-x).
TERN_UNARY_BY_HAND(sigmoid, sigmoid(x), y, g * (1 - y) * y)

/// log(x / (1 - x)), the inverse of sigmoid; NaN outside [0, 1].
TERN_UNARY_BY_HAND(logit, log(x / (1 - x)), x, g / (x * (1 - x)))

/// logit(x), with x limited to [eps, 1 - eps]. Outside of it the gradient is 0.
template <Device D, Floating T>
Tensor<D, T> logit(const Tensor<D, T>& x, detail::RealNumber eps, CallSite here = {}) {
  const auto f = [eps = eps.value()](auto v) {
    return detail::logit_expression(clamp(v, decltype(v)(eps), decltype(v)(1 - eps)));
  };
  return detail::unary({"logit", here}, x, f, [eps = eps.value()](auto g, auto v) {
    return where((v < eps) | (v > 1 - eps), 0, g / (v * (1 - v)));
  });
}

/// log(e^a + e^b), calculated without overflow.
template <Device D, Floating T>
Tensor<D, T> logaddexp(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto f = [](auto x, auto y) {
    return where(x == y, x + 0.69314718055994530942,
                 max(x, y) + log1p(exp(-abs(x - y))));  // equal infinities have no difference
  };
  const auto c = detail::map<T>({"logaddexp", here}, f, a, b);
  record({"logaddexp", here}, c,
         wrt(a, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) { return g * sigmoid(x - y); }}),
         wrt(b, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) { return g * sigmoid(y - x); }}));
  return c;
}
TERN_SAME_PLACE(logaddexp)

/// log2(2^a + 2^b), calculated without overflow.
template <Device D, Floating T>
Tensor<D, T> logaddexp2(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"logaddexp2", here};
  const auto f = [](auto x, auto y) {
    return where(x == y, x + 1, max(x, y) + 1.44269504088896340736 * log1p(exp2(-abs(x - y))));
  };
  const auto c = detail::map<T>(op, f, a, b);
  record(op, c, wrt(a, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) {
                      return g * sigmoid(0.69314718055994530942 * (x - y));
                    }}),
         wrt(b, saved(a, b),
             detail::Gradient{[](auto g, auto x, auto y) { return g * sigmoid(0.69314718055994530942 * (y - x)); }}));
  return c;
}
TERN_SAME_PLACE(logaddexp2)

namespace detail {
inline constexpr auto xlogy_expression = [](auto a, auto b) { return where(a == 0, where(b == b, 0, b), a * log(b)); };
}

/// x log(y); 0 where x is 0 and y is not NaN.
template <Device D, Floating T>
Tensor<D, T> xlogy(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  const auto z = detail::map<T>({"xlogy", here}, detail::xlogy_expression, x, y);
  record({"xlogy", here}, z, wrt(x, saved(x, y), detail::Gradient{[](auto g, auto a, auto b) {
                                   return where(a == 0, where(b <= 0, 0, g * log(b)), g * log(b));
                                 }}),
         wrt(y, saved(x, y), detail::Gradient{[](auto g, auto a, auto b) { return g * a / b; }}));
  return z;
}
template <Device D, Floating T>
const Tensor<D, T>& xlogy_(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  return detail::pointwise_({"xlogy_", here}, detail::xlogy_expression, [&] { return xlogy(x, y, here); }, x, y);
}
TERN_SAME_PLACE(xlogy)
TERN_SAME_PLACE(xlogy_)

/// x log(1 + y), accurate for small y; 0 where x is 0 and y is not NaN.
template <Device D, Floating T>
Tensor<D, T> xlog1py(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  const CallSite op{"xlog1py", here};
  const auto f = [](auto a, auto b) { return where(a == 0, where(b == b, 0, b), a * log1p(b)); };
  const auto z = detail::map<T>(op, f, x, y);
  record(op, z, wrt(x, saved(x, y), detail::Gradient{[](auto g, auto a, auto b) {
                      return where(a == 0, where(b <= -1, 0, g * log1p(b)), g * log1p(b));
                    }}),
         wrt(y, saved(x, y), detail::Gradient{[](auto g, auto a, auto b) { return g * a / (b + 1); }}));
  return z;
}
TERN_SAME_PLACE(xlog1py)

}}  // namespace tern
