// Dual numbers: a value and its derivative. An op's lambda called with duals gives the op's gradient; called with duals
// of duals, the second derivative. At kinks the conventions are PyTorch's.
#pragma once
#include <concepts>
#include <utility>

#include "math.hpp"

namespace tern::inline TERN_BUILD {
namespace expr {

/// A derivative. A flag says that it is zero because nothing depends on the input, so that 0 times an infinite factor
/// is 0, as in reverse mode. After inlining the compiler knows the flag too and drops the terms.
template <class V> struct Tangent {
  V d;
  bool zero;

  Tangent() : d(0), zero(true) {}
  Tangent(V value) : d(value), zero(false) {}

  friend Tangent operator+(Tangent a, Tangent b) { return a.zero ? b : b.zero ? a : Tangent(a.d + b.d); }
  friend Tangent operator-(Tangent a, Tangent b) { return a.zero ? -b : b.zero ? a : Tangent(a.d - b.d); }
  friend Tangent operator-(Tangent a) { return a.zero ? a : Tangent(-a.d); }
  friend Tangent operator*(Tangent a, V factor) { return a.zero ? a : Tangent(a.d * factor); }
  friend Tangent operator/(Tangent a, V divisor) { return a.zero ? a : Tangent(a.d / divisor); }
  template <class Mask> friend Tangent where(Mask m, Tangent a, Tangent b) {
    return a.zero && b.zero ? a : Tangent(where(m, a.d, b.d));
  }
};

/// V is a packet, lanes, a dual, or another type that has their functions.
template <class V> struct Dual : Assignable<Dual<V>> {
  using Mask = typename V::Mask;
  V v;
  Tangent<V> d;

  Dual() = default;
  Dual(V value, Tangent<V> derivative) : v(value), d(derivative) {}
  /// A constant.
  template <std::convertible_to<V> S> Dual(S constant) : v(constant) {}

  friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  friend Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + b.d * a.v}; }
  friend Dual operator/(Dual a, Dual b) {
    const V q = a.v / b.v;
    return {q, (a.d - b.d * q) / b.v};
  }
  friend Dual operator-(Dual a) { return {-a.v, -a.d}; }
  friend Dual operator+(Dual a) { return a; }
  friend Dual multiply_add(Dual a, Dual b, Dual c) {
    return {multiply_add(a.v, b.v, c.v), a.d * b.v + b.d * a.v + c.d};
  }

  friend Mask operator<(Dual a, Dual b) { return a.v < b.v; }
  friend Mask operator>(Dual a, Dual b) { return a.v > b.v; }
  friend Mask operator<=(Dual a, Dual b) { return a.v <= b.v; }
  friend Mask operator>=(Dual a, Dual b) { return a.v >= b.v; }
  friend Mask operator==(Dual a, Dual b) { return a.v == b.v; }
  friend Mask operator!=(Dual a, Dual b) { return a.v != b.v; }
  friend Mask isnan(Dual a) { return isnan(a.v); }
  friend Mask isinf(Dual a) { return isinf(a.v); }
  friend Mask isfinite(Dual a) { return isfinite(a.v); }

  friend Dual where(Mask m, Dual a, Dual b) { return {where(m, a.v, b.v), where(m, a.d, b.d)}; }
  /// Where the arguments are equal, each gets half of the derivative.
  friend Dual min(Dual a, Dual b) { return {min(a.v, b.v), chosen(a.v<b.v, a.v> b.v, a, b)}; }
  friend Dual max(Dual a, Dual b) { return {max(a.v, b.v), chosen(a.v > b.v, a.v < b.v, a, b)}; }
  /// At a limit given as a number the derivative is 0. At a limit given as a dual, x and the limit share it. If the two
  /// limits are equal, x counts as one of them.
  friend Dual clamp(Dual x, double low, double high) {
    return {clamp(x.v, V(low), V(high)), where((x.v > low) & (x.v < high), x.d, Tangent<V>())};
  }
  friend Dual clamp(Dual x, Dual low, Dual high) {
    const Mask equal = low.v == high.v, at_low = x.v == low.v, at_high = x.v == high.v;
    const Tangent<V> inside =
        where(equal, x.d, where(at_low, (x.d + low.d) * V(0.5), where(at_high, (x.d + high.d) * V(0.5), x.d)));
    return {clamp(x.v, low.v, high.v),
            where((x.v > high.v) | (low.v > high.v), high.d, where(x.v < low.v, low.d, inside))};
  }
  friend Dual copysign(Dual a, Dual b) { return {copysign(a.v, b.v), a.d * (sign(a.v) * copysign(V(1), b.v))}; }

  // Piecewise constant functions.
  friend Dual sign(Dual a) { return sign(a.v); }
  friend Dual floor(Dual a) { return floor(a.v); }
  friend Dual ceil(Dual a) { return ceil(a.v); }
  friend Dual round(Dual a) { return round(a.v); }
  friend Dual trunc(Dual a) { return trunc(a.v); }
  friend Dual frac(Dual a) { return {frac(a.v), a.d}; }

  friend Dual abs(Dual a) { return {abs(a.v), a.d * sign(a.v)}; }
  friend Dual square(Dual a) { return {square(a.v), a.d * (2 * a.v)}; }
  friend Dual reciprocal(Dual a) {
    const V r = reciprocal(a.v);
    return {r, a.d * -(r * r)};
  }
  friend Dual sqrt(Dual a) {
    const V s = sqrt(a.v);
    return {s, a.d / (2 * s)};
  }
  friend Dual rsqrt(Dual a) {
    const V r = rsqrt(a.v);
    return {r, a.d * (-0.5 * r * r * r)};
  }

  friend Dual exp(Dual a) {
    const V e = exp(a.v);
    return {e, a.d * e};
  }
  friend Dual exp2(Dual a) {
    const V e = exp2(a.v);
    return {e, a.d * (e * ln2)};
  }
  friend Dual expm1(Dual a) {
    const V e = expm1(a.v);
    return {e, a.d * (e + 1)};
  }
  friend Dual log(Dual a) { return {log(a.v), a.d / a.v}; }
  friend Dual log2(Dual a) { return {log2(a.v), a.d / (a.v * ln2)}; }
  friend Dual log10(Dual a) { return {log10(a.v), a.d / (a.v * ln10)}; }
  friend Dual log1p(Dual a) { return {log1p(a.v), a.d / (a.v + 1)}; }

  friend Dual sin(Dual a) { return {sin(a.v), a.d * cos(a.v)}; }
  friend Dual cos(Dual a) { return {cos(a.v), a.d * -sin(a.v)}; }
  friend Dual tan(Dual a) {
    const V t = tan(a.v);
    return {t, a.d * (1 + t * t)};
  }
  friend Dual asin(Dual a) { return {asin(a.v), a.d / sqrt(1 - a.v * a.v)}; }
  friend Dual acos(Dual a) { return {acos(a.v), -a.d / sqrt(1 - a.v * a.v)}; }
  friend Dual atan(Dual a) { return {atan(a.v), a.d / (1 + a.v * a.v)}; }
  friend Dual sinh(Dual a) { return {sinh(a.v), a.d * cosh(a.v)}; }
  friend Dual cosh(Dual a) { return {cosh(a.v), a.d * sinh(a.v)}; }
  friend Dual tanh(Dual a) {
    const V t = tanh(a.v);
    return {t, a.d * (1 - t * t)};
  }
  friend Dual asinh(Dual a) { return {asinh(a.v), a.d / sqrt(a.v * a.v + 1)}; }
  friend Dual acosh(Dual a) { return {acosh(a.v), a.d / sqrt(a.v * a.v - 1)}; }
  friend Dual atanh(Dual a) { return {atanh(a.v), a.d / (1 - a.v * a.v)}; }
  friend Dual sigmoid(Dual a) {
    const V s = sigmoid(a.v);
    return {s, a.d * (s * (1 - s))};
  }

  friend Dual erf(Dual a) { return {erf(a.v), a.d * (two_over_root_pi * exp(-a.v * a.v))}; }
  friend Dual erfc(Dual a) { return {erfc(a.v), a.d * (-two_over_root_pi * exp(-a.v * a.v))}; }
  friend Dual erfinv(Dual a) {
    const V y = erfinv(a.v);
    return {y, a.d * (exp(y * y) / two_over_root_pi)};
  }
  friend Dual lgamma(Dual a) { return {lgamma(a.v), a.d * digamma(a.v)}; }
  friend Dual digamma(Dual a) { return {digamma(a.v), a.d * polygamma(1, a.v)}; }
  friend Dual polygamma(int n, Dual a) { return {polygamma(n, a.v), a.d * polygamma(n + 1, a.v)}; }

  /// The derivative by the base is 0 where the exponent is 0. The derivative by the exponent is 0 where the base is 0
  /// and the power is finite.
  friend Dual pow(Dual a, Dual b) {
    const V p = pow(a.v, b.v);
    return {p, a.d * where(b.v == 0, V(0), b.v * pow(a.v, b.v - 1)) +
                   b.d * where((a.v == 0) & (b.v >= 0), V(0), p * log(a.v))};
  }
  friend Dual atan2(Dual a, Dual b) { return {atan2(a.v, b.v), (a.d * b.v - b.d * a.v) / (a.v * a.v + b.v * b.v)}; }
  friend Dual fmod(Dual a, Dual b) { return {fmod(a.v, b.v), a.d - b.d * trunc(a.v / b.v)}; }
  friend Dual hypot(Dual a, Dual b) {
    const V h = hypot(a.v, b.v);
    return {h, a.d * (a.v / h) + b.d * (b.v / h)};
  }

 private:
  static constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;
  static constexpr double two_over_root_pi = 1.12837916709551257390;

  static Tangent<V> chosen(Mask first, Mask second, Dual a, Dual b) {
    return where(first, a.d, where(second, b.d, (a.d + b.d) * V(0.5)));
  }
};

/// The K-th partial derivative of f, times g. The backward pass calls it with the incoming gradient and f's arguments.
/// Partial<J, Partial<K, F>> is the derivative of Partial<K, F> by its J-th argument, where g is the 0th.
template <int K, class F> struct Partial {
  F f;

  template <class V, std::same_as<V>... Xs> [[gnu::always_inline]] V operator()(V g, Xs... x) const {
    return call(g, std::index_sequence_for<Xs...>(), x...);
  }

 private:
  template <class V, std::size_t... I, class... Xs>
  [[gnu::always_inline]] V call(V g, std::index_sequence<I...>, Xs... x) const {
    const Dual<V> y = f(Dual<V>(x, I == K ? Tangent<V>(V(1)) : Tangent<V>())...);
    return (y.d * g).d;
  }
};

/// The k-th partial derivative of f, times g. k is no part of the type: that is slower, but one kernel serves all
/// arguments.
template <class F> struct AnyPartial {
  F f;
  int k;

  template <class V, std::same_as<V>... Xs> V operator()(V g, Xs... x) const {
    return call(g, std::index_sequence_for<Xs...>(), x...);
  }

 private:
  template <class V, std::size_t... I, class... Xs> V call(V g, std::index_sequence<I...>, Xs... x) const {
    const Dual<V> y = f(Dual<V>(x, int(I) == k ? Tangent<V>(V(1)) : Tangent<V>())...);
    return (y.d * g).d;
  }
};

}  // namespace expr
}  // namespace tern
