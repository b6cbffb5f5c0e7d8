#include <tern/expr/lanes.hpp>

#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace expr_lanes {
using namespace tern::detail::expr;

namespace {

template <class V, class F>
void check(V got, const typename V::value_type* a, const typename V::value_type* b, F expected) {
  typename V::value_type lanes[V::size];
  got.store(lanes);
  for (int i = 0; i < V::size; ++i) {
    INFO("lane " << i << ": " << std::int64_t(a[i]) << ", " << std::int64_t(b[i]));
    CHECK(std::int64_t(lanes[i]) == std::int64_t(typename V::value_type(expected(a[i], b[i]))));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("integer lanes calculate as a loop does", "[lanes]", std::int64_t, std::int32_t, std::uint8_t) {
  using T = TestType;
  using V = packet_t<T>;
  T a[V::size], b[V::size];
  for (int i = 0; i < V::size; ++i) {
    a[i] = T(i * 7 % 19 - (std::is_signed_v<T> ? 9 : 0));
    b[i] = T(i * 5 % 7 + 1);
  }
  b[3] = a[3];
  const V x = V::load(a), y = V::load(b);
  check(x + y, a, b, [](T p, T q) { return p + q; });
  check(x - y, a, b, [](T p, T q) { return p - q; });
  check(x * y, a, b, [](T p, T q) { return p * q; });
  check(x / y, a, b, [](T p, T q) { return p / q; });
  check(x % y, a, b, [](T p, T q) { return p % q; });
  check(x & y, a, b, [](T p, T q) { return p & q; });
  check(x | y, a, b, [](T p, T q) { return p | q; });
  check(x ^ y, a, b, [](T p, T q) { return p ^ q; });
  check(~x, a, b, [](T p, T) { return ~p; });
  check(-x, a, b, [](T p, T) { return -p; });
  check(x << 2, a, b, [](T p, T) { return p * 4; });
  check(x >> 1, a, b, [](T p, T) { return p >> 1; });
  check(min(x, y), a, b, [](T p, T q) { return p < q ? p : q; });
  check(max(x, y), a, b, [](T p, T q) { return p > q ? p : q; });
  check(clamp(x, 2, 5), a, b, [](T p, T) { return p < 2 ? T(2) : p > 5 ? T(5) : p; });
  check(multiply_add(x, y, 3), a, b, [](T p, T q) { return p * q + 3; });
  check(where(x < y, x, 100), a, b, [](T p, T q) { return p < q ? p : T(100); });
  check(where((x >= y) & !(x == y), 1, 0), a, b, [](T p, T q) { return p > q; });
  check(where((x <= y) ^ (x != y), 1, 0), a, b, [](T p, T q) { return (p <= q) != (p != q); });
  check(where((x > y) | (x == y), 1, 0), a, b, [](T p, T q) { return p >= q; });
  check(where(x != 0, 1, 0), a, b, [](T p, T) { return p != 0; });
  CHECK(any(x == y));
  CHECK_FALSE(any(x > 100));
}

TEMPLATE_TEST_CASE("integer lanes where a machine would trap or C++ has no answer", "[lanes]", std::int64_t,
                   std::int32_t) {
  using T = TestType;
  using V = Lanes<T, 1>;
  const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  CHECK((V(5) / 0).v[0] == 0);
  CHECK((V(5) % 0).v[0] == 0);
  CHECK((V(least) / -1).v[0] == least);
  CHECK((V(least) % -1).v[0] == 0);
  CHECK((V(most) + 1).v[0] == least);
  CHECK((V(least) - 1).v[0] == most);
  CHECK((V(most) * 2).v[0] == -2);
  CHECK((-V(least)).v[0] == least);
  CHECK((V(-7) / 2).v[0] == -3);
  CHECK((V(-7) % 2).v[0] == -1);
  CHECK((V(-1) << int(8 * sizeof(T))).v[0] == 0);
  CHECK((V(1) << -1).v[0] == 0);
  CHECK((V(-1) >> 100).v[0] == -1);
  CHECK((V(most) >> 100).v[0] == 0);
  CHECK(pow(V(-3), 5).v[0] == -243);
  CHECK(pow(V(7), 0).v[0] == 1);
  CHECK(pow(V(2), int(8 * sizeof(T)) - 1).v[0] == least);
  CHECK(pow(V(2), -1).v[0] == 0);
  CHECK(pow(V(-1), -3).v[0] == -1);
  CHECK(fmod(V(-7), 4).v[0] == -3);
}

TEST_CASE("an int64 literal keeps all its bits", "[lanes]") {
  const std::int64_t big = (std::int64_t(1) << 62) + 1;
  CHECK((Lanes<std::int64_t, 16>(0) + big).v[15] == big);
}

TEST_CASE("bool lanes: + is or, * is and, - and ^ are exclusive or, ~ is not", "[lanes]") {
  using V = packet_t<bool>;
  bool a[V::size], b[V::size], lanes[V::size];
  for (int i = 0; i < V::size; ++i) {
    a[i] = i & 1;
    b[i] = i & 2;
  }
  const V x = V::load(a), y = V::load(b);
  const auto check_all = [&](V got, auto expected) {
    got.store(lanes);
    for (int i = 0; i < V::size; ++i) CHECK(lanes[i] == expected(a[i], b[i]));
  };
  check_all(x + y, [](bool p, bool q) { return p || q; });
  check_all(x | y, [](bool p, bool q) { return p || q; });
  check_all(x * y, [](bool p, bool q) { return p && q; });
  check_all(x & y, [](bool p, bool q) { return p && q; });
  check_all(x - y, [](bool p, bool q) { return p != q; });
  check_all(x ^ y, [](bool p, bool q) { return p != q; });
  check_all(~x, [](bool p, bool) { return !p; });
  check_all(where(x == y, x, true), [](bool p, bool q) { return p == q ? p : true; });
}

TEST_CASE("what each element type is calculated in", "[lanes]") {
  STATIC_REQUIRE(std::is_same_v<packet_t<float>, Packet<float>>);
  STATIC_REQUIRE(std::is_same_v<packet_t<tern::bfloat16>, Packet<float>>);
  STATIC_REQUIRE(std::is_same_v<packet_t<tern::half>, Packet<float>>);
  STATIC_REQUIRE(std::is_same_v<packet_t<double>, Packet<double>>);
  STATIC_REQUIRE(std::is_same_v<packet_t<std::int64_t>, Lanes<std::int64_t, 16>>);
}

TEST_CASE("minus turns the sign of 0 around", "[lanes]") {
  CHECK(std::signbit((-Lanes<float, 1>(0)).v[0]));
  CHECK_FALSE(std::signbit((-Lanes<double, 1>(-0.)).v[0]));
}

}  // namespace expr_lanes
