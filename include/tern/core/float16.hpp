// The two 16-bit floating-point types. They only store numbers; arithmetic is done in float.
#pragma once
#include <bit>
#include <cstdint>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// float to bfloat16, rounding to nearest even; a NaN stays a NaN.
constexpr std::uint16_t bfloat16_bits(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  if ((u & 0x7fffffffu) > 0x7f800000u) return std::uint16_t(u >> 16 | 0x40);
  return std::uint16_t((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/// float to IEEE binary16, rounding to nearest even. A number above 65519 becomes infinity.
constexpr std::uint16_t half_bits(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  const auto sign = std::uint16_t(u >> 16 & 0x8000u);
  const std::uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return std::uint16_t(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return std::uint16_t(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Subnormal or zero: adding 0.5 moves the mantissa into the low bits and rounds it.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1) - 0x38000000u;
  return std::uint16_t(sign | rounded >> 13);
}

constexpr float half_value(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {
    const float value = float(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

}  // namespace detail

/// 8 exponent bits, 7 mantissa bits: the upper half of a float.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() {}
  constexpr bfloat16(float value) : bits(detail::bfloat16_bits(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

/// IEEE 754 binary16: 5 exponent bits, 10 mantissa bits.
struct half {
  std::uint16_t bits = 0;
  constexpr half() {}
  constexpr half(float value) : bits(detail::half_bits(value)) {}
  constexpr operator float() const { return detail::half_value(bits); }
};

static_assert(sizeof(bfloat16) == 2 && sizeof(half) == 2);

}}  // namespace tern
