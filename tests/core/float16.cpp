// The 16-bit types against the compiler's own _Float16, and bfloat16 against rounding by hand.
#include "tern/core/float16.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>

namespace core_float16 {
using namespace tern;

namespace {

float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// A float's 16 upper bits or the next: whichever is nearer, in doubt the even one.
std::uint16_t nearest_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), below = bits >> 16, above = below + 1;
  const double down = double(value) - double(of_bits(below << 16));
  // Beyond the largest finite number the next step would be 2^128.
  const double next = (above & 0x7fff) == 0x7f80 ? std::copysign(0x1p128, value) : double(of_bits(above << 16));
  const double up = next - double(value);
  if (std::fabs(down) == std::fabs(up)) return std::uint16_t(below % 2 ? above : below);
  return std::uint16_t(std::fabs(down) < std::fabs(up) ? below : above);
}

}  // namespace

TEST_CASE("every half is the number that its bits say, and comes back from float") {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    half x;
    x.bits = std::uint16_t(i);
    const float expected = float(std::bit_cast<_Float16>(x.bits));
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(float(x)));
      REQUIRE(std::isnan(float(half(float(x)))));
    } else {
      REQUIRE(std::bit_cast<std::uint32_t>(float(x)) == std::bit_cast<std::uint32_t>(expected));
      REQUIRE(half(float(x)).bits == x.bits);
    }
  }
}

TEST_CASE("floats round to the nearest half, in doubt to the even one") {
  // Each half, the number in the middle to the next, and the floats around both.
  for (std::uint32_t i = 0; i < 0x7c00; ++i) {
    half x;
    x.bits = std::uint16_t(i);
    half next;
    next.bits = std::uint16_t(i + 1);
    const float upper = i == 0x7bff ? 65536.f : float(next), middle = float(x) + (upper - float(x)) / 2;
    for (const float value : {middle, std::nextafter(middle, 0.f), std::nextafter(middle, 1e30f),
                              std::nextafter(float(x), 1e30f), -middle}) {
      const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
      REQUIRE(half(value).bits == expected);
    }
  }
  CHECK(float(half(65519.f)) == 65504);
  CHECK(std::isinf(float(half(65520.f))));
  CHECK(half(-1e-30f).bits == 0x8000);
}

TEST_CASE("floats round to the nearest bfloat16, in doubt to the even one") {
  for (std::uint32_t high = 0; high < 0x7f80; ++high) {
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = of_bits(high << 16 | low);
      REQUIRE(bfloat16(value).bits == nearest_bfloat16(value));
      REQUIRE(bfloat16(-value).bits == (nearest_bfloat16(value) | 0x8000));
    }
  }
  CHECK(std::isinf(float(bfloat16(std::numeric_limits<float>::max()))));
  CHECK(std::isinf(float(bfloat16(INFINITY))));
  for (const std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff800001u})
    CHECK(std::isnan(float(bfloat16(of_bits(nan)))));
}

}  // namespace core_float16
