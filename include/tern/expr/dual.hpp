// Dual numbers: a value and its derivative. An op's lambda called with duals gives the op's gradient; called with duals
// of duals, the second derivative. At kinks the conventions are PyTorch's.
#pragma once
#include <concepts>
#include <utility>

#include "math.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

// A rule is inlined wherever it is used, and takes references. Otherwise an expression's duals would go through memory,
// and derivatives that are zero would be calculated.
#define TERN_RULE [[gnu::always_inline]] friend

/// A derivative. A flag says that it is zero because nothing depends on the input, so that 0 times an infinite factor
/// is 0, as in reverse mode. After inlining the compiler knows the flag too and drops the terms.
template <class V>
struct Tangent {
  V d;
  bool zero;

  Tangent() : d(), zero(true) {}
  Tangent(V value) : d(value), zero(false) {}
  [[gnu::always_inline]] V value() const { return zero ? V(0) : d; }

  TERN_RULE Tangent operator+(Tangent a, Tangent b) { return a.zero ? b : b.zero ? a : Tangent(a.d + b.d); }
  TERN_RULE Tangent operator-(Tangent a, Tangent b) { return a.zero ? -b : b.zero ? a : Tangent(a.d - b.d); }
  TERN_RULE Tangent operator-(Tangent a) { return a.zero ? a : Tangent(-a.d); }
  TERN_RULE Tangent operator*(Tangent a, V factor) { return a.zero ? a : Tangent(a.d * factor); }
  TERN_RULE Tangent operator/(Tangent a, V divisor) { return a.zero ? a : Tangent(a.d / divisor); }
  template <class Mask>
  TERN_RULE Tangent where(Mask m, Tangent a, Tangent b) {
    return a.zero && b.zero ? a : Tangent(where(m, a.value(), b.value()));
  }
};

/// The same for packets, whose flags would go through memory: a derivative of -0 says that nothing depends on the
/// input. The compiler drops it from a sum.
template <class V>
struct PacketTangent {
  V d;

  [[gnu::always_inline]] PacketTangent() : d(-0.0) {}
  [[gnu::always_inline]] PacketTangent(V value) : d(value) {}
  [[gnu::always_inline]] V value() const { return d; }

  TERN_RULE PacketTangent operator+(PacketTangent a, PacketTangent b) { return a.d + b.d; }
  TERN_RULE PacketTangent operator-(PacketTangent a) { return a.unless_zero(-a.d); }
  TERN_RULE PacketTangent operator*(PacketTangent a, V factor) { return a.unless_zero(a.d * factor); }
  TERN_RULE PacketTangent operator/(PacketTangent a, V divisor) { return a.unless_zero(a.d / divisor); }
  /// Adding 0 says that the chosen derivative may depend on the input if the other one does.
  template <class Mask>
  TERN_RULE PacketTangent where(Mask m, PacketTangent a, PacketTangent b) {
    return where(a.is_zero() & b.is_zero(), V(-0.0), where(m, a.d, b.d) + 0);
  }

 private:
  [[gnu::always_inline]] typename V::Mask is_zero() const { return {d.bits() == V(-0.0).bits()}; }
  [[gnu::always_inline]] V unless_zero(V value) const { return where(is_zero(), V(-0.0), value); }
};

/// The derivatives by n inputs.
template <class V, int n, int tag = 0>
struct Tangents {
  using First = std::conditional_t<requires { typename V::Native; }, PacketTangent<V>, Tangent<V>>;
  First first;
  Tangents<V, n - 1, tag> rest;

  [[gnu::always_inline]] Tangents() {}
  [[gnu::always_inline]] Tangents(First one, Tangents<V, n - 1, tag> others) : first(one), rest(others) {}
  /// The derivatives of input i itself, times a factor.
  [[gnu::always_inline]] static Tangents of_input(int i, V factor = V(1)) {
    return {i == 0 ? First(factor) : First(), Tangents<V, n - 1, tag>::of_input(i - 1, factor)};
  }
  [[gnu::always_inline]] V operator[](int i) const { return i == 0 ? first.value() : rest[i - 1]; }

  TERN_RULE Tangents operator+(const Tangents& a, const Tangents& b) { return {a.first + b.first, a.rest + b.rest}; }
  TERN_RULE Tangents operator-(const Tangents& a, const Tangents& b) { return a + -b; }
  TERN_RULE Tangents operator-(const Tangents& a) { return {-a.first, -a.rest}; }
  TERN_RULE Tangents operator*(const Tangents& a, V factor) { return {a.first * factor, a.rest * factor}; }
  TERN_RULE Tangents operator/(const Tangents& a, V divisor) { return {a.first / divisor, a.rest / divisor}; }
  template <class Mask>
  TERN_RULE Tangents where(Mask m, const Tangents& a, const Tangents& b) {
    return {where(m, a.first, b.first), where(m, a.rest, b.rest)};
  }
};
template <class V, int tag>
struct Tangents<V, 0, tag> {
  [[gnu::always_inline]] static Tangents of_input(int, V) { return {}; }
  [[gnu::always_inline]] V operator[](int) const { return V(0); }

  TERN_RULE Tangents operator+(const Tangents& a, const Tangents&) { return a; }
  TERN_RULE Tangents operator-(const Tangents& a) { return a; }
  TERN_RULE Tangents operator*(const Tangents& a, V) { return a; }
  TERN_RULE Tangents operator/(const Tangents& a, V) { return a; }
  template <class Mask>
  TERN_RULE Tangents where(Mask, const Tangents& a, const Tangents&) {
    return a;
  }
};

/// V is a packet, lanes, a dual, or another type that has their functions. D is one derivative, or several.
template <class V, class D = Tangent<V>>
struct Dual : Assignable<Dual<V, D>> {
  using Mask = typename V::Mask;
  V v;
  D d;

  Dual() = default;
  Dual(V value, D derivative) : v(value), d(derivative) {}
  /// A constant.
  template <std::convertible_to<V> S>
  Dual(S constant) : v(constant) {}

  TERN_RULE Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.d + b.d}; }
  TERN_RULE Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.d - b.d}; }
  TERN_RULE Dual operator*(const Dual& a, const Dual& b) { return {a.v * b.v, a.d * b.v + b.d * a.v}; }
  TERN_RULE Dual operator/(const Dual& a, const Dual& b) {
    const V q = a.v / b.v;
    return {q, (a.d - b.d * q) / b.v};
  }
  TERN_RULE Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
  TERN_RULE Dual operator+(const Dual& a) { return a; }
  TERN_RULE Dual multiply_add(const Dual& a, const Dual& b, const Dual& c) {
    return {multiply_add(a.v, b.v, c.v), a.d * b.v + b.d * a.v + c.d};
  }

  TERN_RULE Mask operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
  TERN_RULE Mask operator>(const Dual& a, const Dual& b) { return a.v > b.v; }
  TERN_RULE Mask operator<=(const Dual& a, const Dual& b) { return a.v <= b.v; }
  TERN_RULE Mask operator>=(const Dual& a, const Dual& b) { return a.v >= b.v; }
  TERN_RULE Mask operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
  TERN_RULE Mask operator!=(const Dual& a, const Dual& b) { return a.v != b.v; }
  TERN_RULE Mask isnan(const Dual& a) { return isnan(a.v); }
  TERN_RULE Mask isinf(const Dual& a) { return isinf(a.v); }
  TERN_RULE Mask isfinite(const Dual& a) { return isfinite(a.v); }

  TERN_RULE Dual where(Mask m, const Dual& a, const Dual& b) { return {where(m, a.v, b.v), where(m, a.d, b.d)}; }
  /// Where the arguments are equal, each gets half of the derivative.
  TERN_RULE Dual min(const Dual& a, const Dual& b) { return {min(a.v, b.v), chosen(a.v<b.v, a.v> b.v, a, b)}; }
  TERN_RULE Dual max(const Dual& a, const Dual& b) { return {max(a.v, b.v), chosen(a.v > b.v, a.v < b.v, a, b)}; }
  /// At a limit given as a number the derivative is 0. At a limit given as a dual, x and the limit share it. If the two
  /// limits are equal, x counts as one of them.
  TERN_RULE Dual clamp(const Dual& x, double low, double high) {
    return {clamp(x.v, V(low), V(high)), where((x.v > low) & (x.v < high), x.d, D())};
  }
  TERN_RULE Dual clamp(const Dual& x, const Dual& low, const Dual& high) {
    const Mask equal = low.v == high.v, at_low = x.v == low.v, at_high = x.v == high.v;
    const D inside =
        where(equal, x.d, where(at_low, (x.d + low.d) * V(0.5), where(at_high, (x.d + high.d) * V(0.5), x.d)));
    return {clamp(x.v, low.v, high.v),
            where((x.v > high.v) | (low.v > high.v), high.d, where(x.v < low.v, low.d, inside))};
  }
  TERN_RULE Dual copysign(const Dual& a, const Dual& b) {
    return {copysign(a.v, b.v), a.d * (sign(a.v) * copysign(V(1), b.v))};
  }

  // Piecewise constant functions.
  TERN_RULE Dual sign(const Dual& a) { return sign(a.v); }
  TERN_RULE Dual floor(const Dual& a) { return floor(a.v); }
  TERN_RULE Dual ceil(const Dual& a) { return ceil(a.v); }
  TERN_RULE Dual round(const Dual& a) { return round(a.v); }
  TERN_RULE Dual trunc(const Dual& a) { return trunc(a.v); }
  TERN_RULE Dual frac(const Dual& a) { return {frac(a.v), a.d}; }

  TERN_RULE Dual abs(const Dual& a) { return {abs(a.v), a.d * sign(a.v)}; }
  TERN_RULE Dual square(const Dual& a) { return {square(a.v), a.d * (2 * a.v)}; }
  TERN_RULE Dual reciprocal(const Dual& a) {
    const V r = reciprocal(a.v);
    return {r, a.d * -(r * r)};
  }
  TERN_RULE Dual sqrt(const Dual& a) {
    const V s = sqrt(a.v);
    return {s, a.d / (2 * s)};
  }
  TERN_RULE Dual rsqrt(const Dual& a) {
    const V r = rsqrt(a.v);
    return {r, a.d * (-0.5 * r * r * r)};
  }

  TERN_RULE Dual exp(const Dual& a) {
    const V e = exp(a.v);
    return {e, a.d * e};
  }
  TERN_RULE Dual exp2(const Dual& a) {
    const V e = exp2(a.v);
    return {e, a.d * (e * ln2)};
  }
  TERN_RULE Dual expm1(const Dual& a) {
    const V e = expm1(a.v);
    return {e, a.d * (e + 1)};
  }
  TERN_RULE Dual log(const Dual& a) { return {log(a.v), a.d / a.v}; }
  TERN_RULE Dual log2(const Dual& a) { return {log2(a.v), a.d / (a.v * ln2)}; }
  TERN_RULE Dual log10(const Dual& a) { return {log10(a.v), a.d / (a.v * ln10)}; }
  TERN_RULE Dual log1p(const Dual& a) { return {log1p(a.v), a.d / (a.v + 1)}; }

  TERN_RULE Dual sin(const Dual& a) { return {sin(a.v), a.d * cos(a.v)}; }
  TERN_RULE Dual cos(const Dual& a) { return {cos(a.v), a.d * -sin(a.v)}; }
  TERN_RULE Dual tan(const Dual& a) {
    const V t = tan(a.v);
    return {t, a.d * (1 + t * t)};
  }
  TERN_RULE Dual asin(const Dual& a) { return {asin(a.v), a.d / sqrt(1 - a.v * a.v)}; }
  TERN_RULE Dual acos(const Dual& a) { return {acos(a.v), -a.d / sqrt(1 - a.v * a.v)}; }
  TERN_RULE Dual atan(const Dual& a) { return {atan(a.v), a.d / (1 + a.v * a.v)}; }
  TERN_RULE Dual sinh(const Dual& a) { return {sinh(a.v), a.d * cosh(a.v)}; }
  TERN_RULE Dual cosh(const Dual& a) { return {cosh(a.v), a.d * sinh(a.v)}; }
  TERN_RULE Dual tanh(const Dual& a) {
    const V t = tanh(a.v);
    return {t, a.d * (1 - t * t)};
  }
  TERN_RULE Dual asinh(const Dual& a) { return {asinh(a.v), a.d / sqrt(a.v * a.v + 1)}; }
  TERN_RULE Dual acosh(const Dual& a) { return {acosh(a.v), a.d / sqrt(a.v * a.v - 1)}; }
  TERN_RULE Dual atanh(const Dual& a) { return {atanh(a.v), a.d / (1 - a.v * a.v)}; }
  TERN_RULE Dual sigmoid(const Dual& a) {
    const V s = sigmoid(a.v);
    return {s, a.d * (s * (1 - s))};
  }

  TERN_RULE Dual erf(const Dual& a) { return {erf(a.v), a.d * (two_over_root_pi * exp(-a.v * a.v))}; }
  TERN_RULE Dual erfc(const Dual& a) { return {erfc(a.v), a.d * (-two_over_root_pi * exp(-a.v * a.v))}; }
  TERN_RULE Dual erfinv(const Dual& a) {
    const V y = erfinv(a.v);
    return {y, a.d * (exp(y * y) / two_over_root_pi)};
  }
  TERN_RULE Dual lgamma(const Dual& a) { return {lgamma(a.v), a.d * digamma(a.v)}; }
  TERN_RULE Dual digamma(const Dual& a) { return {digamma(a.v), a.d * polygamma(1, a.v)}; }
  TERN_RULE Dual polygamma(int n, const Dual& a) { return {polygamma(n, a.v), a.d * polygamma(n + 1, a.v)}; }

  /// The derivative by the base is 0 where the exponent is 0. The derivative by the exponent is 0 where the base is 0
  /// and the power is finite.
  TERN_RULE Dual pow(const Dual& a, const Dual& b) {
    const V p = pow(a.v, b.v);
    return {p, a.d * where(b.v == 0, V(0), b.v * pow(a.v, b.v - 1)) +
                   b.d * where((a.v == 0) & (b.v >= 0), V(0), p * log(a.v))};
  }
  /// At (0, 0) the derivatives are 0.
  TERN_RULE Dual atan2(const Dual& a, const Dual& b) {
    const V square = a.v * a.v + b.v * b.v;
    return {atan2(a.v, b.v), where(square == 0, D(), (a.d * b.v - b.d * a.v) / square)};
  }
  TERN_RULE Dual fmod(const Dual& a, const Dual& b) { return {fmod(a.v, b.v), a.d - b.d * trunc(a.v / b.v)}; }
  TERN_RULE Dual hypot(const Dual& a, const Dual& b) {
    const V h = hypot(a.v, b.v);
    return {h, a.d * (a.v / h) + b.d * (b.v / h)};
  }

 private:
  static constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;
  static constexpr double two_over_root_pi = 1.12837916709551257390;

  [[gnu::always_inline]] static D chosen(Mask first, Mask second, const Dual& a, const Dual& b) {
    return where(first, a.d, where(second, b.d, (a.d + b.d) * V(0.5)));
  }
};

/// The K-th partial derivative of f, times g. The backward pass calls it with the incoming gradient and f's arguments.
/// Partial<J, Partial<K, F>> is the derivative of Partial<K, F> by its J-th argument, where g is the 0th.
template <int K, class F>
struct Partial {
  F f;

  template <class V, std::same_as<V>... Xs>
  [[gnu::always_inline]] V operator()(V g, Xs... x) const {
    return call(g, std::index_sequence_for<Xs...>(), x...);
  }

 private:
  template <class V, std::size_t... I, class... Xs>
  [[gnu::always_inline]] V call(V g, std::index_sequence<I...>, Xs... x) const {
    if constexpr (requires { typename V::Native; }) {
      using D = Tangents<V, 1, K>;
      const Dual<V, D> y = f(Dual<V, D>(x, I == K ? D::of_input(0) : D())...);
      return y.d[0] * g + 0;
    } else {
      const Dual<V> y = f(Dual<V>(x, I == K ? Tangent<V>(V(1)) : Tangent<V>())...);
      return (y.d * g).value();
    }
  }
};

/// f(x...) and its derivatives by all arguments.
template <class F, class V, std::same_as<V>... Xs, std::size_t... I>
[[gnu::always_inline]] inline auto value_and_derivatives(const F& f, std::index_sequence<I...>, V x, Xs... rest) {
  using D = Tangents<V, sizeof...(I)>;
  const V all[] = {x, rest...};
  return Dual<V, D>(f(Dual<V, D>(all[I], D::of_input(I))...));
}

/// The k-th partial derivative of f, times g. k is no part of the type: that is slower, but one kernel serves all
/// arguments.
template <class F>
struct AnyPartial {
  F f;
  int k;

  template <class V, std::same_as<V>... Xs>
  V operator()(V g, Xs... x) const {
    return call(g, std::index_sequence_for<Xs...>(), x...);
  }

 private:
  template <class V, std::size_t... I, class... Xs>
  V call(V g, std::index_sequence<I...>, Xs... x) const {
    const Dual<V> y = f(Dual<V>(x, int(I) == k ? Tangent<V>(V(1)) : Tangent<V>())...);
    return (y.d * g).value();
  }
};

#undef TERN_RULE

}  // namespace detail::expr
}}  // namespace tern
