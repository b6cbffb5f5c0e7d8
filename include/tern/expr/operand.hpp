// Helpers that packets, lanes and duals share.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

/// f for each lane of x (and y), one lane after the other.
template <class F, class V>
V lanewise(F f, V x) {
  typename V::value_type a[V::size];
  x.store(a);
  for (auto& lane : a) lane = static_cast<typename V::value_type>(f(lane));
  return V::load(a);
}
template <class F, class V>
V lanewise(F f, V x, V y) {
  typename V::value_type a[V::size], b[V::size];
  x.store(a);
  y.store(b);
  for (int i = 0; i < V::size; ++i) a[i] = static_cast<typename V::value_type>(f(a[i], b[i]));
  return V::load(a);
}

/// x^n modulo 2^bits. For negative n, the power rounded towards zero.
template <class T>
T integer_power(T x, T n) {
  if (n < 0) return x == 1 || (x == T(-1) && n % 2 == 0) ? 1 : x == T(-1) ? T(-1) : 0;
  std::uint64_t power = 1, factor = std::uint64_t(x);
  for (; n > 0; n = T(n >> 1), factor *= factor)
    if (n & 1) power *= factor;
  return T(power);
}

/// x += y and the like, for a type that has x + y.
template <class V>
struct Assignable {
  friend V& operator+=(V& a, V b) { return a = a + b; }
  friend V& operator-=(V& a, V b) { return a = a - b; }
  friend V& operator*=(V& a, V b) { return a = a * b; }
  friend V& operator/=(V& a, V b) { return a = a / b; }
};

/// x^y. A packet has a faster version (double_math.hpp).
template <class V>
V real_power(V x, V y) {
  return lanewise([](auto a, auto b) { return std::pow(a, b); }, x, y);
}

/// Functions of two numbers, calculated lane by lane. They are friends so that a literal converts: pow(x, 2).
template <class V>
struct TwoArgumentFunctions {
  friend V pow(V a, V b) {
    if constexpr (std::is_integral_v<typename V::value_type>)
      return lanewise([](auto x, auto y) { return integer_power(x, y); }, a, b);
    else return real_power(a, b);
  }
  /// The remainder with the sign of a.
  friend V fmod(V a, V b) {
    if constexpr (std::is_integral_v<typename V::value_type>) return a % b;
    else return lanewise([](auto x, auto y) { return std::fmod(x, y); }, a, b);
  }
  friend V atan2(V a, V b) {
    return lanewise([](auto x, auto y) { return std::atan2(x, y); }, a, b);
  }
  friend V hypot(V a, V b) {
    return lanewise([](auto x, auto y) { return std::hypot(x, y); }, a, b);
  }
  friend V nextafter(V a, V b) {
    return lanewise([](auto x, auto y) { return std::nextafter(x, y); }, a, b);
  }
  /// a 2^n, for whole n.
  friend V ldexp(V a, V n) {
    return lanewise([](auto x, auto y) { return std::ldexp(x, int(y)); }, a, n);
  }
};

}  // namespace detail::expr
}}  // namespace tern
