// Floating-point numbers as they are represented: frexp takes them apart, nextafter has their neighbours.
#pragma once
#include "exponential.hpp"
#include "rounding.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// What frexp returns.
template <class D, class T>
struct MantissaAndExponent {
  Tensor<D, T> mantissa;
  Tensor<D, std::int32_t> exponent;
};
}  // namespace detail

/// The mantissa m, 1/2 ≤ |m| < 1, and the exponent n with x = m 2^n. 0, NaN and the infinities are their own mantissas
/// and have the exponent 0.
template <Device D, Floating T>
detail::MantissaAndExponent<D, T> frexp(const Tensor<D, T>& x, CallSite here = {}) {
  const CallSite op{"frexp", here};
  const auto f = [](auto v) { return where((v == 0) | (v - v != 0), 0, logb(v) + 1); };
  const Tensor<D, T> exponent = detail::map<T>(op, f, x);
  const Tensor<D, T> mantissa = detail::map<T>(op, [](auto v, auto n) { return ldexp(v, -n); }, x, exponent);
  record(op, mantissa, wrt(x, saved(exponent), detail::Gradient{[](auto g, auto n) { return g / exp2(n); }}));
  return {mantissa, to_type(exponent, i32)};
}

/// The number after x towards y that the type has. It has no gradient.
template <Device D, Floating T>
  requires(!detail::is_half_v<T>)
Tensor<D, T> nextafter(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here = {}) {
  return detail::map<T>({"nextafter", here}, [](auto a, auto b) { return nextafter(a, b); }, x, y);
}
TERN_SAME_PLACE(nextafter)

}}  // namespace tern
