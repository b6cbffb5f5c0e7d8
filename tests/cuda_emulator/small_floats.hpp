// Conversions of the 16-bit floating-point types, and the rounding of TF32.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace emulator {

inline float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// Rounds to nearest, ties to even.
inline std::uint16_t float_to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float magnitude;
  if (exponent == 31) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (exponent) {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Rounds to nearest, ties to even.
inline std::uint16_t float_to_half(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const float magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The unit of the last of 10 fraction bits; of the subnormal numbers below 2^-14.
  const int unit = magnitude < 0x1p-14f ? -24 : exponent - 11;
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  return static_cast<std::uint16_t>(sign | (((unit + 24) << 10) + units));
}

/// TF32 keeps 10 bits of the fraction; rounds to nearest, ties away, as the conversion instruction cvt.rna does.
inline float round_to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000) & ~0x1fffu);
}

}  // namespace emulator
