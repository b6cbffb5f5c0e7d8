// Elementary functions of packets of floats, without branches or tables. Each polynomial is a minimax fit, in relative
// error, of the remainder named beside it, on the interval that the range reduction leaves. tests/expr/math.cpp bounds
// the error in ulps.
#pragma once
#include <limits>

#include "packet.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

/// |x|.
template <class T>
Packet<T> abs(Packet<T> x) {
  return copysign(x, 1);
}

/// Rounds to the nearest integer, halves to even. Above 2^23 (2^52 for double) every number is an integer, so adding
/// that constant rounds.
template <class T>
Packet<T> round(Packet<T> x) {
  const Packet<T> a = abs(x), integers = T(1) / std::numeric_limits<T>::epsilon();
  return copysign(where(a < integers, (a + integers) - integers, a), x);
}
template <class T>
Packet<T> floor(Packet<T> x) {
  const Packet<T> r = round(x);
  return where(r > x, r - 1, r);
}
template <class T>
Packet<T> ceil(Packet<T> x) {
  return -floor(-x);
}
template <class T>
Packet<T> trunc(Packet<T> x) {
  return copysign(floor(abs(x)), x);
}

/// Inline assembler. The compiler would keep a loop over std::sqrt scalar because std::sqrt sets errno, and the
/// intrinsic needs a header that takes longer to compile than this whole layer.
template <class T>
Packet<T> sqrt(Packet<T> x) {
#if defined(__AVX__)
  if constexpr (sizeof(T) == 4) asm("vsqrtps %1, %0" : "=v"(x.v) : "v"(x.v));
  else asm("vsqrtpd %1, %0" : "=v"(x.v) : "v"(x.v));
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4) asm("sqrtps %1, %0" : "=x"(x.v) : "x"(x.v));
  else asm("sqrtpd %1, %0" : "=x"(x.v) : "x"(x.v));
#elif defined(__aarch64__)
  if constexpr (sizeof x > 16 && sizeof(T) == 4)
    asm("ptrue p0.b\n\tfsqrt %0.s, p0/m, %1.s" : "=w"(x.v) : "w"(x.v) : "p0");
  else if constexpr (sizeof x > 16) asm("ptrue p0.b\n\tfsqrt %0.d, p0/m, %1.d" : "=w"(x.v) : "w"(x.v) : "p0");
  else if constexpr (sizeof(T) == 4) asm("fsqrt %0.4s, %1.4s" : "=w"(x.v) : "w"(x.v));
  else asm("fsqrt %0.2d, %1.2d" : "=w"(x.v) : "w"(x.v));
#else
  for (int i = 0; i < x.size; ++i) x.v[i] = std::sqrt(x.v[i]);
#endif
  return x;
}

namespace detail {

using Floats = Packet<float>;
using FloatBits = Floats::Bits;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;  // n ln2_high is exact for |n| < 2^15

/// Adding it rounds a number below 2^22 to an integer and puts that integer in the low bits of the sum.
inline constexpr float round_shift = 0x1.8p23f;

/// c + c1 x + c2 x^2 + ...
template <class... Rest>
[[gnu::always_inline]] inline Floats polynomial(Floats x, float c, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) return c;
  else return multiply_add(x, polynomial(x, rest...), c);
}

/// 2^n for n in [-126, 127].
inline Floats power_of_two(FloatBits n) { return Floats::from_bits((n + 127) << 23); }

/// An x whose e^x is 0. Intel's vscalefps takes 70 ns for a subnormal result, but is fast for results of 2^-513 and
/// below. With an x nearer to 0, a softmax of masked elements (-infinity) would take thirty times as long.
#if defined(__AVX512F__)
inline constexpr float exp_is_zero = -400;
#else
inline constexpr float exp_is_zero = -104;
#endif

/// x 2^n for integers n in [-252, 254], rounded once. With AVX-512, for any n.
inline Floats scale(Floats x, Floats n) {
#if defined(__AVX512F__)
  asm("vscalefps %2, %1, %0" : "=v"(x.v) : "v"(x.v), "v"(n.v));
  return x;
#else
  const auto k = __builtin_convertvector(n.v, FloatBits),
             half = k >> 1;  // two factors, because 2^k itself may be subnormal or infinite
  return x * power_of_two(half) * power_of_two(k - half);
#endif
}

/// x = n ln 2 + r with |r| <= ln 2 / 2, and (e^r - 1 - r) / r^2.
struct ExpParts {
  Floats n, r, p;
  Floats expm1_r() const { return multiply_add(r * r, p, r); }
};
[[gnu::always_inline]] inline ExpParts exp_parts(Floats x) {
  const Floats n = multiply_add(x, 1.44269504f, round_shift) - round_shift;
  const Floats r = multiply_add(n, -ln2_low, multiply_add(n, -ln2_high, x));
  return {n, r, polynomial(r, 0.49999997f, 0.166665435f, 0.0416672006f, 0.00836652052f, 0.00138825213f)};
}
/// e^r 2^n for the given n.
[[gnu::always_inline]] inline Floats exp_of(const ExpParts& parts, Floats n) {
  return scale(multiply_add(parts.r, multiply_add(parts.r, parts.p, 1), 1), n);
}

/// 2^x for x up to 127. AVX-512's scaling takes the floor of its exponent, and has an instruction for what is left.
[[gnu::always_inline]] inline Floats exp2_below(Floats x) {
#if defined(__AVX512DQ__)
  Floats f;
  asm("vreduceps $9, %1, %0" : "=v"(f.v) : "v"(x.v));
#else
  x = larger(-150, x);
  const Floats n = (x - 0.5f + round_shift) - round_shift, f = x - n;
  x = n;
#endif
  const Floats z = f * f, even = polynomial(z, 0.999999925f, 0.240153618f, 0.00898934153f),
               odd = polynomial(z, 0.693153073f, 0.0558263157f, 0.00187757653f);
  return scale(multiply_add(f, odd, even), x);
}

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for normal x.
struct LogParts {
  FloatBits k;
  Floats f;
};
inline LogParts log_parts(Floats x) {
  using UInts = vector_t<std::uint32_t, Floats::size>;  // unsigned, since they wrap around for a negative x
  const auto bits = reinterpret_cast<UInts>(x.v);
  const auto k = reinterpret_cast<FloatBits>(bits - reinterpret_cast<UInts>(Floats(0.707106781f).v)) >> 23;
  const UInts mantissa = bits - (reinterpret_cast<UInts>(k) << 23);
  return {k, Floats(reinterpret_cast<Floats::Native>(mantissa)) - 1};
}

/// log(1 + f) - f, for f as in LogParts.
[[gnu::always_inline]] inline Floats log1p_minus(Floats f) {
  // (log(1 + f) - f + f^2 / 2) / f^3
  const Floats p = polynomial(f, 0.333333313f, -0.250008225f, 0.200012475f, -0.166233122f, 0.14201352f, -0.131603062f,
                              0.127642468f, -0.0763723031f);
  const Floats square = f * f;
  return multiply_add(square * f, p, -0.5f * square);
}

/// The logarithm for every x. Outside (0, inf) it is -inf, NaN or x itself; elsewhere `inside`.
inline Floats log_limits(Floats x, Floats inside) {
  return where(x <= 0, where(x == 0, -infinity, not_a_number), where(x < infinity, inside, x));
}

/// The LogParts of any positive x, subnormal ones included, with k as a float.
struct AnyLogParts {
  Floats k, f;
};
inline AnyLogParts any_log_parts(Floats x) {
  const auto subnormal = x < 0x1p-126f;
  const LogParts parts = log_parts(where(subnormal, x * 0x1p24f, x));
  const Floats k = __builtin_convertvector(parts.k, Floats::Native);
  return {where(subnormal, k - 24, k), parts.f};
}

/// x = n pi/2 + r with |r| <= pi/4, and sin r and cos r. Accurate for |x| <= sin_limit.
struct SinParts {
  FloatBits n;
  Floats sin_r, cos_r;
};
inline constexpr float sin_limit = 8192;
[[gnu::always_inline]] inline SinParts sin_parts(Floats x) {
  const Floats shifted = multiply_add(x, 0.636619772f, round_shift), n = shifted - round_shift;
  // pi/2 as three parts of 9 bits, whose products with n are exact, and a remainder.
  Floats r = multiply_add(n, -0x1.92p+0f, x);
  r = multiply_add(n, -0x1.fbp-12f, r);
  r = multiply_add(n, -0x1.51p-22f, r);
  r = multiply_add(n, -0x1.0b4612p-34f, r);
  const Floats z = r * r;
  // (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4, in r^2
  const Floats s = polynomial(z, -0.166666552f, 0.00833218824f, -0.000195180721f);
  const Floats c = polynomial(z, 0.0416666456f, -0.00138873095f, 2.44323383e-05f);
  return {shifted.bits() - Floats(round_shift).bits(), multiply_add(z * r, s, r),
          multiply_add(z * z, c, multiply_add(z, -0.5f, 1))};
}

/// sin of the angle with these parts.
inline Floats sin_of(const SinParts& parts) {
  const Floats::Mask odd{(parts.n & 1) != 0};
  const Floats value = where(odd, parts.cos_r, parts.sin_r);
  return Floats::from_bits(value.bits() ^ (parts.n & 2) << 30);
}

/// arcsin of x in [0, 1/2].
[[gnu::always_inline]] inline Floats asin_small(Floats x) {
  const Floats z = x * x;
  // (arcsin x - x) / x^3, in x^2
  const Floats p = polynomial(z, 0.166667521f, 0.0749530792f, 0.0454695076f, 0.0241822582f, 0.0421637446f);
  return multiply_add(z * x, p, x);
}

}  // namespace detail

inline Packet<float> exp(Packet<float> x) {
  // Beyond these limits the result is 0 or infinity. A NaN stays.
  const auto parts = detail::exp_parts(smaller(89, larger(detail::exp_is_zero, x)));
  return detail::exp_of(parts, parts.n);
}

inline Packet<float> exp2(Packet<float> x) {
  x = smaller(129, larger(-151, x));
  const Packet<float> n = (x + detail::round_shift) - detail::round_shift;
  return detail::exp_of(detail::exp_parts((x - n) * 0.693147181f), n);
}

inline Packet<float> expm1(Packet<float> x) {
  const auto parts = detail::exp_parts(smaller(89, larger(-18, x)));
  const Packet<float> m = parts.expm1_r(), half = detail::scale(0.5f, parts.n);  // half, because 2^n may be infinite
  return where(abs(x) < 1e-10f, x, 2 * multiply_add(half, m, half - 0.5f));
}

inline Packet<float> log(Packet<float> x) {
  const auto [k, f] = detail::any_log_parts(x);
  const Packet<float> low = multiply_add(k, detail::ln2_low, detail::log1p_minus(f));
  return detail::log_limits(x, multiply_add(k, detail::ln2_high, f + low));
}

inline Packet<float> log2(Packet<float> x) {
  const auto [k, f] = detail::any_log_parts(x);
  const Packet<float> y = f + detail::log1p_minus(f);
  return detail::log_limits(x, k + multiply_add(y, 0.442695041f, y));  // log2(e) = 1.4427
}

inline Packet<float> log10(Packet<float> x) {
  const auto [k, f] = detail::any_log_parts(x);
  const Packet<float> y = (f + detail::log1p_minus(f)) * 0.434294482f;
  return detail::log_limits(x, multiply_add(k, 0.30102539f, multiply_add(k, 4.60503989e-6f, y)));  // k log10(2)
}

inline Packet<float> log1p(Packet<float> x) {
  const Packet<float> u = x + 1, v = u - 1, lost = (1 - (u - v)) + (x - v);  // u + lost = 1 + x exactly
  const auto [k, f] = detail::log_parts(u);
  const detail::FloatBits scale = -(k > 64 ? detail::FloatBits{} + 64 : k);
  const Packet<float> g = multiply_add(lost, detail::power_of_two(scale), f);
  const Packet<float> kf = __builtin_convertvector(k, Packet<float>::Native);
  const Packet<float> low = multiply_add(kf, detail::ln2_low, detail::log1p_minus(g));
  return where(abs(x) < 1e-10f, x, detail::log_limits(u, multiply_add(kf, detail::ln2_high, g + low)));
}

inline Packet<float> tanh(Packet<float> x) {
  const Packet<float> z = x * x;
  // tanh(x) / x, in x^2, up to where it is 1 in float
  const Packet<float> p = detail::polynomial(z, 1.0f, 0.13379693f, 0.00349400099f, 2.05828255e-05f, 1.3317984e-08f);
  const Packet<float> q = detail::polynomial(z, 1.0f, 0.467130095f, 0.0258709546f, 0.000328303315f, 7.76161244e-07f);
  const Packet<float> y = x * p / q;
  return where((abs(x) > 9.01f) | (abs(y) > 1), copysign(1, x), y);
}

inline Packet<float> sigmoid(Packet<float> x) {
  const Packet<float> e = exp(-abs(x));
  return where(x < 0, e, 1) / (1 + e);
}

inline Packet<float> cosh(Packet<float> x) {
  const Packet<float> root = exp(0.5f * abs(x));
  return 0.5f * root * root + 0.5f / (root * root);
}

inline Packet<float> sinh(Packet<float> x) {
  const Packet<float> a = abs(x), t = expm1(a), root = exp(0.5f * a);
  return copysign(where(a < 20, 0.5f * (t + t / (t + 1)), 0.5f * root * root), x);
}

inline Packet<float> sin(Packet<float> x) {
  if (any(abs(x) > detail::sin_limit)) return lanewise([](float a) { return std::sin(a); }, x);
  return where(x == 0, x, detail::sin_of(detail::sin_parts(x)));
}

inline Packet<float> cos(Packet<float> x) {
  if (any(abs(x) > detail::sin_limit)) return lanewise([](float a) { return std::cos(a); }, x);
  auto parts = detail::sin_parts(x);
  parts.n += 1;  // cos x = sin(x + pi/2)
  return detail::sin_of(parts);
}

inline Packet<float> tan(Packet<float> x) {
  if (any(abs(x) > detail::sin_limit)) return lanewise([](float a) { return std::tan(a); }, x);
  const auto parts = detail::sin_parts(x);
  const Packet<float>::Mask odd{(parts.n & 1) != 0};
  const Packet<float> t = where(odd, -parts.cos_r, parts.sin_r) / where(odd, parts.sin_r, parts.cos_r);
  return where(x == 0, x, t);
}

inline Packet<float> asin(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto small = a <= 0.5f;
  const Packet<float> y = detail::asin_small(where(small, a, sqrt(0.5f * (1 - a))));
  return copysign(where(small, y, 1.57079633f - 2 * y), x);
}

inline Packet<float> acos(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto small = a <= 0.5f;
  const Packet<float> y = detail::asin_small(where(small, a, sqrt(0.5f * (1 - a))));
  return where(small, 1.57079633f - copysign(y, x), where(x < 0, 3.14159265f - 2 * y, 2 * y));
}

inline Packet<float> atan(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto large = a > 2.41421356f, medium = a > 0.414213562f;  // tan(3 pi/8), tan(pi/8)
  const Packet<float> t = where(large, -1, where(medium, a - 1, a)) / where(large, a, where(medium, a + 1, 1));
  const Packet<float> z = t * t;
  // (arctan t - t) / t^3, in t^2
  const Packet<float> p = detail::polynomial(z, -0.333333164f, 0.19998531f, -0.14244467f, 0.105997846f, -0.0609165765f);
  const Packet<float> base = where(large, 1.57079633f, where(medium, 0.785398163f, 0));
  return copysign(base + multiply_add(z * t, p, t), x);
}

inline Packet<float> asinh(Packet<float> x) {
  const Packet<float> a = abs(x), square = a * a;
  const Packet<float> y = log1p(where(a < 1e9f, a + square / (1 + sqrt(1 + square)), a));
  return copysign(where(a < 1e9f, y, y + 0.693147181f), x);
}

inline Packet<float> acosh(Packet<float> x) {
  const Packet<float> t = x - 1;
  const Packet<float> y = log1p(where(x < 1e9f, t + sqrt(t * (x + 1)), x));
  return where(x < 1, detail::not_a_number, where(x < 1e9f, y, y + 0.693147181f));
}

inline Packet<float> atanh(Packet<float> x) {
  const Packet<float> a = abs(x);
  return copysign(0.5f * log1p(2 * a / (1 - a)), x);
}

inline Packet<float> erf(Packet<float> x) {
  const Packet<float> a = where(abs(x) > 4, 4, abs(x)), z = a * a;  // erf(4) is 1 in float
  // erf(x) / x - 1, in x^2
  const Packet<float> p =
      detail::polynomial(z, 0.128379151f, -0.376124978f, 0.112818435f, -0.0267673489f, 0.00499403803f, -0.00059945049f);
  // log(1 - erf(x)) for larger x
  const Packet<float> q = detail::polynomial(a, -0.000198483249f, -1.12766409f, -0.637201548f, -0.10391479f,
                                             0.0222188924f, -0.00304122455f, 0.000195736488f);
  return copysign(where(a < 0.921875f, multiply_add(a, p, a), 1 - exp(q)), x);
}

namespace detail {

/// The probability that a standard normal variable is below x, given log2 of the probability for -|x|.
[[gnu::always_inline]] inline Floats normal_cdf_of(Floats x, Floats tail) {
  const Floats below = exp2_below(tail);
  return where(x < 0, below, 1 - below);
}
/// |x|, at most 20, where the tail is 0 in float.
inline Floats tail_place(Floats x) { return smaller(20, abs(x)); }

}  // namespace detail

/// The probability that a standard normal variable is below x. That of -|x| has a small relative error. Its logarithm
/// is fitted on [0, 6], with more weight on smaller numbers. Two chains of terms take less time than one.
inline Packet<float> normal_cdf(Packet<float> x) {
  const Packet<float> a = detail::tail_place(x), z = a * a;
  const Packet<float> even = detail::polynomial(z, -0.999999901f, -0.459181188f, 0.00711700943f, -0.000214887628f,
                                                -7.84197094e-06f, -1.78045594e-08f);
  const Packet<float> odd =
      detail::polynomial(z, -1.15110919f, -0.052558675f, -0.000136666261f, 5.79518162e-05f, 5.71872747e-07f);
  return detail::normal_cdf_of(x, multiply_add(a, odd, even));
}

/// The same for a result that is rounded to 16 bits: the relative error is below 2^-14.
inline Packet<float> short_normal_cdf(Packet<float> x) {
  const Packet<float> a = detail::tail_place(x), z = a * a;
  const Packet<float> even = detail::polynomial(z, -0.99999741f, -0.45865475f, 0.00836385342f, 5.57893472e-05f);
  const Packet<float> odd = detail::polynomial(z, -1.15119924f, -0.0537141029f, -0.000888841213f, -1.52394475e-06f);
  return detail::normal_cdf_of(x, multiply_add(a, odd, even));
}

}  // namespace detail::expr
}}  // namespace tern
