// What float_math.hpp declares and is no template.
#pragma once
#include "float_math.hpp"

namespace tern::inline TERN_BUILD::expr::detail {

TERN_INLINE Floats scale(Floats x, Floats n) {
#if defined(__AVX512F__)
  asm("vscalefps %2, %1, %0" : "=v"(x.v) : "v"(x.v), "v"(n.v));
  return x;
#else
  const auto k = __builtin_convertvector(n.v, FloatBits), half = k >> 1;  // 2^k itself may be subnormal or infinite
  return x * power_of_two(half) * power_of_two(k - half);
#endif
}

TERN_INLINE LogParts log_parts(Floats x) {
  using Words = vector_t<std::uint32_t, Floats::size>;  // unsigned, since they wrap around for a negative x
  const auto bits = reinterpret_cast<Words>(x.v);
  const auto k = reinterpret_cast<FloatBits>(bits - reinterpret_cast<Words>(Floats(0.707106781f).v)) >> 23;
  const Words mantissa = bits - (reinterpret_cast<Words>(k) << 23);
  return {k, Floats(reinterpret_cast<Floats::Native>(mantissa)) - 1};
}

TERN_INLINE AnyLogParts any_log_parts(Floats x) {
  const auto subnormal = x < 0x1p-126f;
  const LogParts parts = log_parts(where(subnormal, x * 0x1p24f, x));
  const Floats k = __builtin_convertvector(parts.k, Floats::Native);
  return {where(subnormal, k - 24, k), parts.f};
}

}  // namespace tern::expr::detail

namespace tern::inline TERN_BUILD::expr {

TERN_INLINE Packet<float> log1p(Packet<float> x) {
  const Packet<float> u = x + 1, v = u - 1, lost = (1 - (u - v)) + (x - v);  // u + lost = 1 + x exactly
  const auto [k, f] = detail::log_parts(u);
  const detail::FloatBits scale = -(k > 64 ? detail::FloatBits{} + 64 : k);
  const Packet<float> g = multiply_add(lost, detail::power_of_two(scale), f);
  const Packet<float> kf = __builtin_convertvector(k, Packet<float>::Native);
  const Packet<float> low = multiply_add(kf, detail::ln2_low, detail::log1p_minus(g));
  return where(abs(x) < 1e-10f, x, detail::log_limits(u, multiply_add(kf, detail::ln2_high, g + low)));
}

TERN_INLINE Packet<float> tanh(Packet<float> x) {
  const Packet<float> z = x * x;
  // tanh(x) / x, in x^2, up to where it is 1 in float
  const Packet<float> p = detail::polynomial(z, 1.0f, 0.13379693f, 0.00349400099f, 2.05828255e-05f, 1.3317984e-08f);
  const Packet<float> q = detail::polynomial(z, 1.0f, 0.467130095f, 0.0258709546f, 0.000328303315f, 7.76161244e-07f);
  const Packet<float> y = x * p / q;
  return where((abs(x) > 9.01f) | (abs(y) > 1), copysign(1, x), y);
}

TERN_INLINE Packet<float> cos(Packet<float> x) {
  if (any(abs(x) > detail::sin_limit)) return lanewise([](float a) { return std::cos(a); }, x);
  auto parts = detail::sin_parts(x);
  parts.n += 1;  // cos x = sin(x + pi/2)
  return detail::sin_of(parts);
}

TERN_INLINE Packet<float> tan(Packet<float> x) {
  if (any(abs(x) > detail::sin_limit)) return lanewise([](float a) { return std::tan(a); }, x);
  const auto parts = detail::sin_parts(x);
  const Packet<float>::Mask odd{(parts.n & 1) != 0};
  const Packet<float> t = where(odd, -parts.cos_r, parts.sin_r) / where(odd, parts.sin_r, parts.cos_r);
  return where(x == 0, x, t);
}

TERN_INLINE Packet<float> asin(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto small = a <= 0.5f;
  const Packet<float> y = detail::asin_small(where(small, a, sqrt(0.5f * (1 - a))));
  return copysign(where(small, y, 1.57079633f - 2 * y), x);
}

TERN_INLINE Packet<float> acos(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto small = a <= 0.5f;
  const Packet<float> y = detail::asin_small(where(small, a, sqrt(0.5f * (1 - a))));
  return where(small, 1.57079633f - copysign(y, x), where(x < 0, 3.14159265f - 2 * y, 2 * y));
}

TERN_INLINE Packet<float> atan(Packet<float> x) {
  const Packet<float> a = abs(x);
  const auto large = a > 2.41421356f, medium = a > 0.414213562f;  // tan(3 pi/8), tan(pi/8)
  const Packet<float> t = where(large, -1, where(medium, a - 1, a)) / where(large, a, where(medium, a + 1, 1));
  const Packet<float> z = t * t;
  // (arctan t - t) / t^3, in t^2
  const Packet<float> p = detail::polynomial(z, -0.333333164f, 0.19998531f, -0.14244467f, 0.105997846f, -0.0609165765f);
  const Packet<float> base = where(large, 1.57079633f, where(medium, 0.785398163f, 0));
  return copysign(base + multiply_add(z * t, p, t), x);
}

TERN_INLINE Packet<float> erf(Packet<float> x) {
  const Packet<float> a = where(abs(x) > 4, 4, abs(x)), z = a * a;  // erf(4) is 1 in float
  // erf(x) / x - 1, in x^2
  const Packet<float> p =
      detail::polynomial(z, 0.128379151f, -0.376124978f, 0.112818435f, -0.0267673489f, 0.00499403803f, -0.00059945049f);
  // log(1 - erf(x)), beyond
  const Packet<float> q = detail::polynomial(a, -0.000198483249f, -1.12766409f, -0.637201548f, -0.10391479f,
                                             0.0222188924f, -0.00304122455f, 0.000195736488f);
  return copysign(where(a < 0.921875f, multiply_add(a, p, a), 1 - exp(q)), x);
}

}  // namespace tern::expr
