// Functions of packets and lanes. A lambda calls them by their plain names, which argument-dependent lookup finds.
#pragma once
#include "double_math.hpp"
#include "float_math.hpp"
#include "lanes.hpp"
#include "special.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

/// A packet or lanes; not a mask.
template <class V>
concept Numbers = requires {
  typename V::value_type;
  V::size;
};

// Functions of the C library, called for each lane. A packet has faster versions of some.

template <Numbers V>
V exp(V x) {
  return lanewise([](auto a) { return std::exp(a); }, x);
}
template <Numbers V>
V exp2(V x) {
  return lanewise([](auto a) { return std::exp2(a); }, x);
}
template <Numbers V>
V expm1(V x) {
  return lanewise([](auto a) { return std::expm1(a); }, x);
}
template <Numbers V>
V log(V x) {
  return lanewise([](auto a) { return std::log(a); }, x);
}
template <Numbers V>
V log2(V x) {
  return lanewise([](auto a) { return std::log2(a); }, x);
}
template <Numbers V>
V log10(V x) {
  return lanewise([](auto a) { return std::log10(a); }, x);
}
template <Numbers V>
V log1p(V x) {
  return lanewise([](auto a) { return std::log1p(a); }, x);
}
template <Numbers V>
V sqrt(V x) {
  return lanewise([](auto a) { return std::sqrt(a); }, x);
}
template <Numbers V>
V sin(V x) {
  return lanewise([](auto a) { return std::sin(a); }, x);
}
template <Numbers V>
V cos(V x) {
  return lanewise([](auto a) { return std::cos(a); }, x);
}
template <Numbers V>
V tan(V x) {
  return lanewise([](auto a) { return std::tan(a); }, x);
}
template <Numbers V>
V asin(V x) {
  return lanewise([](auto a) { return std::asin(a); }, x);
}
template <Numbers V>
V acos(V x) {
  return lanewise([](auto a) { return std::acos(a); }, x);
}
template <Numbers V>
V atan(V x) {
  return lanewise([](auto a) { return std::atan(a); }, x);
}
template <Numbers V>
V sinh(V x) {
  return lanewise([](auto a) { return std::sinh(a); }, x);
}
template <Numbers V>
V cosh(V x) {
  return lanewise([](auto a) { return std::cosh(a); }, x);
}
template <Numbers V>
V tanh(V x) {
  return lanewise([](auto a) { return std::tanh(a); }, x);
}
template <Numbers V>
V asinh(V x) {
  return lanewise([](auto a) { return std::asinh(a); }, x);
}
template <Numbers V>
V acosh(V x) {
  return lanewise([](auto a) { return std::acosh(a); }, x);
}
template <Numbers V>
V atanh(V x) {
  return lanewise([](auto a) { return std::atanh(a); }, x);
}
template <Numbers V>
V erf(V x) {
  return lanewise([](auto a) { return std::erf(a); }, x);
}
template <Numbers V>
V erfc(V x) {
  return lanewise([](auto a) { return std::erfc(a); }, x);
}
template <Numbers V>
V floor(V x) {
  return lanewise([](auto a) { return std::floor(a); }, x);
}
template <Numbers V>
V ceil(V x) {
  return lanewise([](auto a) { return std::ceil(a); }, x);
}
template <Numbers V>
V trunc(V x) {
  return lanewise([](auto a) { return std::trunc(a); }, x);
}
/// The exponent: the largest whole n with 2^n ≤ |x|; -inf of 0.
template <Numbers V>
V logb(V x) {
  return lanewise([](auto a) { return std::logb(a); }, x);
}
/// Rounds to the nearest integer, halves to even.
template <Numbers V>
V round(V x) {
  return lanewise([](auto a) { return std::nearbyint(a); }, x);
}

/// log |gamma(x)|, its derivative digamma, and digamma's n-th derivative.
template <Numbers V>
V lgamma(V x) {
  return lanewise([](double a) { return special::lgamma(a); }, x);
}
template <Numbers V>
V digamma(V x) {
  return lanewise([](double a) { return special::digamma(a); }, x);
}
template <Numbers V>
V polygamma(int n, V x) {
  return lanewise([n](double a) { return special::polygamma(n, a); }, x);
}
/// The inverse of erf.
template <Numbers V>
V erfinv(V x) {
  return lanewise([](double a) { return special::erfinv(a); }, x);
}

// Functions made of other functions.

/// |x|.
template <Numbers V>
V abs(V x) {
  if constexpr (std::is_floating_point_v<typename V::value_type>) return copysign(x, 1);  // clears the sign of -0 too
  else return where(x < 0, -x, x);
}
/// -1, 0 or 1; 0 for NaN.
template <Numbers V>
V sign(V x) {
  return where(x > 0, V(1), where(x < 0, V(0) - 1, 0));
}
/// x^2.
template <Numbers V>
V square(V x) {
  return x * x;
}
/// 1 / x.
template <Numbers V>
V reciprocal(V x) {
  return 1 / x;
}
/// 1 / sqrt(x).
template <Numbers V>
V rsqrt(V x) {
  return 1 / sqrt(x);
}
/// The fractional part, with the sign of x.
template <Numbers V>
V frac(V x) {
  return x - trunc(x);
}
/// 1 / (1 + e^-x).
template <Numbers V>
V sigmoid(V x) {
  return 1 / (1 + exp(-x));
}

template <Numbers V>
auto isnan(V x) {
  return x != x;
}
template <Numbers V>
auto isfinite(V x) {
  return x - x == 0;
}
template <Numbers V>
auto isinf(V x) {
  return (x == x) & (x - x != 0);
}

}  // namespace detail::expr
}}  // namespace tern
