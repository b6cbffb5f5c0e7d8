// Circular and hyperbolic functions, and their inverses. Angles are in radians, which rad2deg and deg2rad convert.
#pragma once
#include "exponential.hpp"
#include "power.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

TERN_UNARY_BY_HAND(sin, sin(x), x, g* cos(x))
TERN_UNARY_BY_HAND(cos, cos(x), x, -g* sin(x))
TERN_UNARY_BY_HAND(tan, tan(x), y, g * (1 + y * y))
TERN_UNARY_BY_HAND(asin, asin(x), x, g* rsqrt(1 - x * x))
TERN_UNARY_BY_HAND(acos, acos(x), x, -g* rsqrt(1 - x * x))
TERN_UNARY_BY_HAND(atan, atan(x), x, g / (1 + x * x))
TERN_UNARY_BY_HAND(sinh, sinh(x), x, g* cosh(x))
TERN_UNARY_BY_HAND(cosh, cosh(x), x, g* sinh(x))
TERN_UNARY_BY_HAND(tanh, tanh(x), y, g * (1 - y * y))
TERN_UNARY_BY_HAND(asinh, asinh(x), x, g* rsqrt(x* x + 1))
TERN_UNARY_BY_HAND(acosh, acosh(x), x, g* rsqrt(x* x - 1))
TERN_UNARY_BY_HAND(atanh, atanh(x), x, g / (1 - x * x))

/// sin(pi x) / (pi x); 1 at 0.
TERN_UNARY_BY_HAND(sinc, where(x == 0, 1, sin(3.14159265358979323846 * x) / (3.14159265358979323846 * x)), x,
                   g* where(x == 0, 0,
                            (cos(3.14159265358979323846 * x) * x -
                             sin(3.14159265358979323846 * x) / 3.14159265358979323846) /
                                (x * x)))

/// x radians in degrees.
template <Device D, Floating T>
Tensor<D, T> rad2deg(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"rad2deg", here});
  return mul(x, 57.29577951308232088, here);
}
template <Device D, Floating T>
const Tensor<D, T>& rad2deg_(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"rad2deg_", here});
  return mul_(x, 57.29577951308232088, here);
}

/// x degrees in radians.
template <Device D, Floating T>
Tensor<D, T> deg2rad(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"deg2rad", here});
  return mul(x, 0.01745329251994329577, here);
}
template <Device D, Floating T>
const Tensor<D, T>& deg2rad_(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"deg2rad_", here});
  return mul_(x, 0.01745329251994329577, here);
}

namespace detail {
inline constexpr auto atan2_expression = [](auto y, auto x) { return atan2(y, x); };
inline constexpr auto hypot_expression = [](auto x, auto y) { return hypot(x, y); };
}

/// The angle of the point (x, y): arctan(y / x) in the right quadrant, in [-pi, pi]. The gradient at (0, 0) is 0.
template <Device D, Floating T>
Tensor<D, T> atan2(const Tensor<D, T>& y, const Tensor<D, T>& x, CallSite here = {}) {
  const auto angle = detail::map<T>({"atan2", here}, detail::atan2_expression, y, x);
  record({"atan2", here}, angle, wrt(y, saved(y, x), detail::Gradient{[](auto g, auto b, auto a) {
                                       const auto square = a * a + b * b;
                                       return g * where(square == 0, 0, a / square);
                                     }}),
         wrt(x, saved(y, x), detail::Gradient{[](auto g, auto b, auto a) {
               const auto square = a * a + b * b;
               return -g * where(square == 0, 0, b / square);
             }}));
  return angle;
}
template <Device D, Floating T>
const Tensor<D, T>& atan2_(const Tensor<D, T>& y, const Tensor<D, T>& x, CallSite here = {}) {
  return detail::pointwise_({"atan2_", here}, detail::atan2_expression, [&] { return atan2(y, x, here); }, y, x);
}
TERN_SAME_PLACE(atan2)
TERN_SAME_PLACE(atan2_)

/// sqrt(a^2 + b^2), calculated without overflow.
template <Device D, Floating T>
Tensor<D, T> hypot(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  if constexpr (detail::is_half_v<T>) {  // the gradients need a length that is not rounded
    const CallScope scope({"hypot", here});
    return detail::rounded_once([&](const auto& x, const auto& y) { return hypot(x, y, here); }, a, b);
  }
  const auto c = detail::map<T>({"hypot", here}, detail::hypot_expression, a, b);
  const detail::Gradient along{[](auto g, auto x, auto length) { return g * (x / length); }};
  record({"hypot", here}, c, wrt(a, saved(a, c), along), wrt(b, saved(b, c), along));
  return c;
}
template <Device D, Floating T>
const Tensor<D, T>& hypot_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::pointwise_({"hypot_", here}, detail::hypot_expression, [&] { return hypot(a, b, here); }, a, b);
}
TERN_SAME_PLACE(hypot)
TERN_SAME_PLACE(hypot_)

}}  // namespace tern
