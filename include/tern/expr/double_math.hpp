// Elementary functions of packets of doubles, without branches or tables, and the power of floats, which is calculated
// in double. Polynomials are minimax fits as in float_math.hpp; those of log, sin and cos are fdlibm's.
// tests/expr/math.cpp bounds the error in ulps.
#pragma once
#include <utility>

#include "float_math.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {
namespace detail {

using Doubles = Packet<double>;
using DoubleBits = Doubles::Bits;

inline constexpr double huge = std::numeric_limits<double>::infinity();
inline constexpr double double_ln2_high = 6.93147180369123816490e-01,
                        double_ln2_low = 1.90821492927058770002e-10;  // n times the first is exact

/// Adding it rounds a number below 2^51 to an integer and puts that integer in the low bits of the sum.
inline constexpr double double_round_shift = 0x1.8p52;

template <class... Rest>
[[gnu::always_inline]] inline Doubles polynomial(Doubles x, double c, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) return c;
  else return multiply_add(x, polynomial(x, rest...), c);
}

/// n that is an integer below 2^51, and an integer as a number.
inline DoubleBits integer_of(Doubles n) { return (n + double_round_shift).bits() - Doubles(double_round_shift).bits(); }
inline Doubles number_of(DoubleBits n) {
  return Doubles::from_bits(n + Doubles(double_round_shift).bits()) - double_round_shift;
}

/// 2^n for n in [-1022, 1023].
inline Doubles power_of_two(DoubleBits n) { return Doubles::from_bits((n + 1023) << 52); }

/// An x whose e^x is 0; far from subnormal results with AVX-512, as exp_is_zero.
#if defined(__AVX512F__)
inline constexpr double double_exp_is_zero = -2500;
#else
inline constexpr double double_exp_is_zero = -746;
#endif

/// x 2^n for integers n in [-2044, 2046], rounded once. With AVX-512, for any n.
inline Doubles scale(Doubles x, Doubles n) {
#if defined(__AVX512F__)
  asm("vscalefpd %2, %1, %0" : "=v"(x.v) : "v"(x.v), "v"(n.v));
  return x;
#else
  const DoubleBits k = integer_of(n), half = k >> 1;
  return x * power_of_two(half) * power_of_two(k - half);
#endif
}

/// x = n ln 2 + r with |r| <= ln 2 / 2, and (e^r - 1 - r) / r^2.
struct DoubleExpParts {
  Doubles n, r, p;
};
[[gnu::always_inline]] inline DoubleExpParts exp_parts(Doubles x) {
  const Doubles n = multiply_add(x, 1.44269504088896338700, double_round_shift) - double_round_shift;
  const Doubles r = multiply_add(n, -double_ln2_low, multiply_add(n, -double_ln2_high, x));
  return {n, r,
          polynomial(r, 0.5, 0.16666666666666682, 0.041666666666666095, 0.008333333333317034, 0.0013888888889115668,
                     0.0001984126989638535, 2.4801586926559774e-05, 2.7557234860519807e-06, 2.755758190624906e-07,
                     2.5112037290469702e-08, 2.082661040031384e-09)};
}

/// x = n pi/2 + r with |r| <= pi/4, and sin r and cos r. Accurate for |x| <= double_sin_limit.
struct DoubleSinParts {
  DoubleBits n;
  Doubles sin_r, cos_r;
};
inline constexpr double double_sin_limit = 1e6;
[[gnu::always_inline]] inline DoubleSinParts sin_parts(Doubles x) {
  const Doubles shifted = multiply_add(x, 6.36619772367581382433e-01, double_round_shift),
                n = shifted - double_round_shift;
  // pi/2 as two parts of 33 bits, whose products with n are exact, and a remainder.
  Doubles r = multiply_add(n, -1.57079632673412561417e+00, x);
  r = multiply_add(n, -6.07710050630396597660e-11, r);
  r = multiply_add(n, -2.02226624879595063154e-21, r);
  const Doubles z = r * r;
  const Doubles s = polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                               2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  const Doubles c = polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                               -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const Doubles half = 0.5 * z, w = 1 - half;
  return {shifted.bits() - Doubles(double_round_shift).bits(), multiply_add(z * r, s, r),
          w + multiply_add(z * z, c, (1 - w) - half)};
}

/// sin of the angle with these parts.
inline Doubles sin_of(const DoubleSinParts& parts) {
  const Doubles::Mask odd{(parts.n & 1) != 0};
  return Doubles::from_bits(where(odd, parts.cos_r, parts.sin_r).bits() ^ (parts.n & 2) << 62);
}

/// 2^(y log2 x) of finite positive x that come from floats, with the accuracy of float; NaN for 0 times infinity.
inline Doubles float_power(Doubles x, Doubles y) {
  using Words = vector_t<std::uint64_t, Doubles::size>;
  const auto bits = reinterpret_cast<Words>(x.v);
  const DoubleBits k =
      reinterpret_cast<DoubleBits>(bits - reinterpret_cast<Words>(Doubles(0.70710678118654752).v)) >> 52;
  const Doubles m = Doubles::from_bits(reinterpret_cast<DoubleBits>(bits - (reinterpret_cast<Words>(k) << 52)));
  const Doubles s = (m - 1) / (m + 1), z = s * s;
  const Doubles p = polynomial(z, 2.885390081777927, 0.9617966791808225, 0.5770828551365546, 0.41170613093427744,
                               0.34022264397956287);
  const Doubles log = where(x == 0, -huge, where(x < huge, multiply_add(s, p, number_of(k)), x));
  const Doubles t = smaller(300, larger(-300, y * log)), shifted = t + double_round_shift,
                r = t - (shifted - double_round_shift);
  const Doubles power = polynomial(r, 1.0000000005551068, 0.6931472057669829, 0.2402264688584499, 0.05550328712348151,
                                   0.009618489273115819, 0.001339995745821954, 0.000153457810317374);
  return power * power_of_two(shifted.bits() - Doubles(double_round_shift).bits());
}

/// A half of a packet of floats.
using HalfOfFloats = vector_t<float, Doubles::size>;
template <std::size_t... lane>
[[gnu::always_inline]] inline Floats float_power(Floats x, Floats y, std::index_sequence<lane...>) {
  constexpr int n = Doubles::size;
  const auto low = [](Floats v) {
    return Doubles(__builtin_convertvector(__builtin_shufflevector(v.v, v.v, int(lane)...), Doubles::Native));
  };
  const auto high = [](Floats v) {
    return Doubles(__builtin_convertvector(__builtin_shufflevector(v.v, v.v, int(lane) + n...), Doubles::Native));
  };
  const auto a = __builtin_convertvector(float_power(low(x), low(y)).v, HalfOfFloats);
  const auto b = __builtin_convertvector(float_power(high(x), high(y)).v, HalfOfFloats);
  return Floats(__builtin_shufflevector(a, b, int(lane)..., int(lane) + n...));
}

}  // namespace detail

inline Packet<double> exp(Packet<double> x) {
  const auto [n, r, p] = detail::exp_parts(smaller(710, larger(detail::double_exp_is_zero, x)));
  return detail::scale(multiply_add(r, multiply_add(r, p, 1), 1), n);
}

inline Packet<double> expm1(Packet<double> x) {
  const auto [n, r, p] = detail::exp_parts(smaller(710, larger(-40, x)));
  const Packet<double> m = multiply_add(r * r, p, r),
                       half = detail::scale(0.5, n);  // half, because 2^n may be infinite
  return where(abs(x) < 1e-20, x, 2 * multiply_add(half, m, half - 0.5));
}

inline Packet<double> log(Packet<double> x) {
  using namespace detail;
  using Words = vector_t<std::uint64_t, Doubles::size>;
  const auto subnormal = x < 0x1p-1022;
  const auto bits = reinterpret_cast<Words>(where(subnormal, x * 0x1p54, x).v);
  const DoubleBits k =
      reinterpret_cast<DoubleBits>(bits - reinterpret_cast<Words>(Doubles(0.70710678118654752).v)) >> 52;
  const Doubles f = Doubles::from_bits(reinterpret_cast<DoubleBits>(bits - (reinterpret_cast<Words>(k) << 52))) - 1;
  const Doubles n = number_of(k) - where(subnormal, Doubles(54), Doubles(0));
  const Doubles s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const Doubles p = z * polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                   2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                   1.479819860511658591e-01);
  const Doubles low = half - multiply_add(s, half + p, n * double_ln2_low),
                inside = multiply_add(n, double_ln2_high, f - low);
  return where(x <= 0, where(x == 0, -huge, std::numeric_limits<double>::quiet_NaN()), where(x < huge, inside, x));
}

inline Packet<double> tanh(Packet<double> x) {
  const Packet<double> t = expm1(2 * smaller(20, abs(x)));  // tanh(20) is 1 in double
  return where(x == x, copysign(t / (t + 2), x), x);
}

inline Packet<double> sigmoid(Packet<double> x) {
  const Packet<double> e = exp(-abs(x));
  return where(x < 0, e, 1) / (1 + e);
}

inline Packet<double> sin(Packet<double> x) {
  if (any(abs(x) > detail::double_sin_limit)) return lanewise([](double a) { return std::sin(a); }, x);
  return where(x == 0, x, detail::sin_of(detail::sin_parts(x)));
}

inline Packet<double> cos(Packet<double> x) {
  if (any(abs(x) > detail::double_sin_limit)) return lanewise([](double a) { return std::cos(a); }, x);
  auto parts = detail::sin_parts(x);
  parts.n += 1;  // cos x = sin(x + pi/2)
  return detail::sin_of(parts);
}

/// x^y as C defines it: 1 if x is 1 or y is 0, even for NaN; NaN for a finite negative x and a y that is no integer.
inline Packet<float> real_power(Packet<float> x, Packet<float> y) {
  const Packet<float> power = detail::float_power(abs(x), y, std::make_index_sequence<Packet<double>::size>());
  const Packet<float> half = 0.5f * y;
  const auto whole = round(y) == y, odd = whole & (round(half) != half),
             unit = (abs(x) == 1) & (abs(y) == detail::infinity);
  const Packet<float> value =
      where((x < 0) & (x > -detail::infinity) & !whole, detail::not_a_number, where(odd, copysign(power, x), power));
  return where((y == 0) | (x == 1) | unit, 1, value);
}

}  // namespace detail::expr
}}  // namespace tern
