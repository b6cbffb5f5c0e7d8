// Powers and roots.
#pragma once
#include <cmath>

#include "../tensor/creation.hpp"
#include "exponential.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

TERN_UNARY_BY_HAND(sqrt, sqrt(x), y, g / (2 * y))
/// 1 / sqrt(x).
TERN_UNARY_BY_HAND(rsqrt, rsqrt(x), y, -0.5 * g * y * y * y)
/// 1 / x.
TERN_UNARY_BY_HAND(reciprocal, reciprocal(x), y, -g* y* y)

namespace detail {
inline constexpr auto square_expression = [](auto x) { return square(x); };

inline constexpr auto pow_expression = [](auto x, auto y) { return pow(x, y); };

/// x^exponent; as a product or a root where that is exact.
template <class V>
V power(V x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 0.5) return sqrt(x);
  if (exponent == -0.5) return rsqrt(x);
  if (exponent == -1) return reciprocal(x);
  return pow(x, exponent);
}
template <class T>
auto power_of(scalar_t<T> exponent) {
  if constexpr (is_floating_v<T>) return [exponent](auto x) { return power(x, exponent); };
  else return with_number(pow_expression, exponent);
}
}  // namespace detail

/// x^2.
template <Device D, Element T>
Tensor<D, T> square(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::unary({"square", here}, x, detail::square_expression, [](auto g, auto v) { return 2 * g * v; });
}
TERN_UNARY_IN_PLACE(square, Element)

/// x^exponent. Error for an integer to a negative exponent.
template <Device D, Element T>
Tensor<D, T> pow(const Tensor<D, T>& x, detail::operand_t<T> exponent, CallSite here = {}) {
  if constexpr (detail::is_floating_v<T>) {
    if (exponent == 0) return detail::step({"pow", here}, x, [](auto v) { return decltype(v)(1); });
    return detail::unary(
        {"pow", here}, x, detail::power_of<T>(exponent),
        [exponent = exponent.value()](auto g, auto v) { return exponent * g * detail::power(v, exponent - 1); });
  } else {
    if (exponent.value() < 0)
      Error::fail({"pow", here}, {"an integer tensor to the negative power ", exponent.value()});
    return detail::map<T>({"pow", here}, detail::power_of<T>(detail::operand<T>({"pow", here}, exponent)), x);
  }
}

/// x^y, element by element.
template <Device D, Element T>
Tensor<D, T> pow(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  const auto z = detail::map<T>({"pow", here}, detail::pow_expression, x, y);
  record({"pow", here}, z, wrt(x, saved(x, y), detail::Gradient{[](auto g, auto base, auto exponent) {
                                 return where(exponent == 0, 0, g * exponent * pow(base, exponent - 1));
                               }}),
         wrt(y, saved(x, y), detail::Gradient{[](auto g, auto base, auto exponent) {
               const auto power = pow(base, exponent);  // calculated anew, because a 16-bit result was rounded
               return where(base == 0, where(exponent >= 0, 0, g * power * log(base)), g * power * log(base));
             }}));
  return z;
}

/// base^x.
template <Device D, Floating T>
Tensor<D, T> pow(detail::RealNumber base, const Tensor<D, T>& x, CallSite here = {}) {
  const auto y = detail::map<T>({"pow", here}, [base = base.value()](auto v) { return pow(decltype(v)(base), v); }, x);
  const double log_base = std::log(base.value());
  if (base == 0)  // for x >= 0, the derivative is 0
    record({"pow", here}, y, wrt(x, saved(x, y), detail::Gradient{[log_base](auto g, auto exponent, auto power) {
                                   return where(exponent >= 0, 0, log_base * g * power);
                                 }}));
  else
    record({"pow", here}, y,
           wrt(x, saved(y), detail::Gradient{[log_base](auto g, auto power) { return log_base * g * power; }}));
  return y;
}

/// pow in double precision.
template <Device D, Element T>
Tensor<D, double> float_power(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  const CallScope scope({"float_power", here});
  return pow(to_type(x, f64, here), to_type(y, f64, here), here);
}
template <Device D, Element T>
Tensor<D, double> float_power(const Tensor<D, T>& x, detail::RealNumber exponent, CallSite here = {}) {
  const CallScope scope({"float_power", here});
  return pow(to_type(x, f64, here), exponent, here);
}

template <Device D, Element T>
const Tensor<D, T>& pow_(const Tensor<D, T>& x, detail::operand_t<T> exponent, CallSite here = {}) {
  if constexpr (!detail::is_floating_v<T>)
    if (exponent.value() < 0)
      Error::fail({"pow_", here}, {"an integer tensor to the negative power ", exponent.value()});
  const auto power = detail::power_of<T>(detail::operand<T>({"pow_", here}, exponent));
  return detail::pointwise_({"pow_", here}, power, [&] { return pow(x, exponent, here); }, x);
}
template <Device D, Element T>
const Tensor<D, T>& pow_(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  return detail::pointwise_({"pow_", here}, detail::pow_expression, [&] { return pow(x, y, here); }, x, y);
}

/// x 2^exponent.
template <Device D, Floating T, Element U>
Tensor<D, T> ldexp(const Tensor<D, T>& x, const Tensor<D, U>& exponent, CallSite here = {}) {
  const CallScope scope({"ldexp", here});
  return detail::rounded_once([&](const auto& v, const auto& n) { return mul(v, pow(2, n, here), here); }, x,
                              to_type(exponent, detail::Type<T>{}, here));
}

/// `steps` numbers from base^start to base^end, both included, whose logarithms have equal distances.
template <Device D, Element T = float>
  requires detail::is_floating_v<T>
Tensor<D, T> logspace(detail::RealNumber start, detail::RealNumber end, Index steps, detail::RealNumber base = 10,
                      detail::Type<T> type = {}, CallSite here = {}) {
  const CallScope scope({"logspace", here});
  return to_type(pow(base, linspace<D, double>(start, end, steps)), type, here);
}
template <Device D, Element T>
  requires detail::is_floating_v<T>
Tensor<D, T> logspace(detail::RealNumber start, detail::RealNumber end, Index steps, detail::Type<T> type,
                      CallSite here = {}) {
  return logspace<D, T>(start, end, steps, 10, type, here);
}

TERN_SAME_PLACE(pow)
TERN_SAME_PLACE(pow_)
TERN_SAME_PLACE(float_power)

}}  // namespace tern
