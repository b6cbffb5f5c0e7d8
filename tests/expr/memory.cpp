#include <tern/expr/memory.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace expr_memory {
using namespace tern::detail::expr;
using tern::bfloat16;
using tern::half;

namespace {

template <class U, class V>
void check_load(const U (&stored)[V::size]) {
  using T = typename V::value_type;
  T lanes[V::size];
  load_as<V>(stored).store(lanes);
  for (int i = 0; i < V::size; ++i) CHECK(lanes[i] == T(tern::compute_t<U>(stored[i])));
}

template <class U, class V>
void check_round_trip() {
  U stored[V::size], back[V::size];
  for (int i = 0; i < V::size; ++i) stored[i] = U(float(i % 9));
  check_load<U, V>(stored);
  store_as<U>(back, load_as<V>(stored));
  for (int i = 0; i < V::size; ++i) CHECK(back[i] == stored[i]);
}

template <class V>
void check_all_round_trips() {
  check_round_trip<float, V>();
  check_round_trip<double, V>();
  check_round_trip<bfloat16, V>();
  check_round_trip<half, V>();
  check_round_trip<std::int64_t, V>();
  check_round_trip<std::int32_t, V>();
  check_round_trip<std::uint8_t, V>();
}

/// load_as and store_as of 16-bit types against the scalar conversions of core, on a packet of floats.
template <class U>
void check_16_bit_types() {
  using P = Packet<float>;
  for (std::uint32_t first = 0; first < 0x10000; first += P::size) {
    U stored[P::size];
    for (int i = 0; i < P::size; ++i) stored[i].bits = std::uint16_t(first + std::uint32_t(i));
    float lanes[P::size];
    load_as<P>(stored).store(lanes);
    for (int i = 0; i < P::size; ++i) {
      const float expected = stored[i];
      const auto bits = std::bit_cast<std::uint32_t>(expected), quiet = std::isnan(expected) ? bits | 1u << 22 : bits;
      if (const auto got = std::bit_cast<std::uint32_t>(lanes[i]); got != bits && got != quiet) {
        INFO("bits " << stored[i].bits);
        REQUIRE(got == bits);
      }
    }
  }
  int wrong = 0;
  for (std::uint64_t first = 0; first < 1ull << 32; first += 4093 * P::size) {
    float values[P::size];
    for (int i = 0; i < P::size; ++i) values[i] = std::bit_cast<float>(std::uint32_t(first + std::uint64_t(i) * 4093));
    U stored[P::size];
    store_as<U>(stored, P::load(values));
    for (int i = 0; i < P::size; ++i) {
      const U expected(values[i]);
      if (std::isnan(values[i])) wrong += !std::isnan(float(stored[i]));
      else wrong += stored[i].bits != expected.bits;
    }
  }
  CHECK(wrong == 0);
}

template <class U>
std::uint16_t stored_bits(float value) {
  U stored[Packet<float>::size];
  store_as<U>(stored, Packet<float>(value));
  return stored[0].bits;
}

}  // namespace

TEMPLATE_TEST_CASE("every element type loads and stores", "[memory]", Packet<float>, Packet<double>,
                   (Lanes<std::int64_t, 16>), (Lanes<std::int32_t, 16>), (Lanes<std::uint8_t, 16>), (Lanes<float, 1>),
                   (Lanes<double, 3>)) {
  check_all_round_trips<TestType>();
}

TEST_CASE("bfloat16 packets agree with scalar conversions", "[memory]") { check_16_bit_types<bfloat16>(); }
TEST_CASE("half packets agree with scalar conversions", "[memory]") { check_16_bit_types<half>(); }

TEST_CASE("16-bit types are rounded to nearest even", "[memory]") {
  CHECK(stored_bits<bfloat16>(1.0f) == 0x3f80);
  CHECK(stored_bits<bfloat16>(0x1.01p0f) == 0x3f80);
  CHECK(stored_bits<bfloat16>(0x1.03p0f) == 0x3f82);
  CHECK(stored_bits<bfloat16>(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(stored_bits<half>(0x1.002p0f) == 0x3c00);
  CHECK(stored_bits<half>(0x1.006p0f) == 0x3c02);
  CHECK(stored_bits<half>(65519.0f) == 0x7bff);
  CHECK(stored_bits<half>(65520.0f) == 0x7c00);
  CHECK(stored_bits<half>(-0x1p-24f) == 0x8001);
  CHECK(stored_bits<half>(0x1p-26f) == 0);
}

TEST_CASE("real numbers become integers towards zero, and bool by being other than zero", "[memory]") {
  using P = Packet<float>;
  const auto stored = [](float value, auto element) {
    decltype(element) p[P::size];
    store_as<decltype(element)>(p, P(value));
    return p[P::size - 1];
  };
  CHECK(stored(2.9f, std::int32_t()) == 2);
  CHECK(stored(-2.9f, std::int64_t()) == -2);
  CHECK(stored(255.9f, std::uint8_t()) == 255);
  CHECK(stored(-1.0f, std::uint8_t()) == 255);
  CHECK(stored(0.5f, bool()));
  CHECK_FALSE(stored(-0.0f, bool()));
  CHECK(stored(std::nanf(""), bool()));
}

TEMPLATE_TEST_CASE("bool is loaded as 0 and 1, and as a mask; masks are stored as 0 and 1", "[memory]", Packet<float>,
                   Packet<double>, (Lanes<std::int64_t, 16>), (Lanes<bool, 16>), (Lanes<float, 1>)) {
  using V = TestType;
  using T = typename V::value_type;
  bool stored[V::size], back[V::size];
  for (int i = 0; i < V::size; ++i) stored[i] = i % 3 == 0;
  const V v = load_as<V>(stored);
  T lanes[V::size];
  v.store(lanes);
  store_as<bool>(back, v != 0);
  float numbers[V::size];
  store_as<float>(numbers, v != 0);
  half halves[V::size];
  store_as<half>(halves, v != 0);
  std::int64_t integers[V::size];
  store_as<std::int64_t>(integers, v != 0);
  for (int i = 0; i < V::size; ++i) {
    CHECK(lanes[i] == T(stored[i]));
    CHECK(back[i] == stored[i]);
    CHECK(numbers[i] == float(stored[i]));
    CHECK(float(halves[i]) == float(stored[i]));
    CHECK(integers[i] == std::int64_t(stored[i]));
  }
}

}  // namespace expr_memory
