#include <tern/expr/math.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace expr_packet {
using namespace tern::detail::expr;

namespace {

/// Two packets and what a loop over their lanes must give.
template <class T>
struct Operands {
  static constexpr int size = Packet<T>::size;
  T a[size], b[size];
  Packet<T> pa, pb;

  Operands() {
    for (int i = 0; i < size; ++i) {
      a[i] = T(i * 3 % 7) - T(2.5);
      b[i] = T(i * 5 % 11) - T(4.5);
    }
    b[0] = a[0];
    pa = Packet<T>::load(a);
    pb = Packet<T>::load(b);
  }

  template <class F>
  void check(Packet<T> got, F expected) const {
    T lanes[size];
    got.store(lanes);
    for (int i = 0; i < size; ++i) {
      INFO("lane " << i << ": " << a[i] << ", " << b[i]);
      CHECK(lanes[i] == expected(a[i], b[i]));
    }
  }
  template <class F>
  void check(PacketMask<T> got, F expected) const {
    bool lanes[size];
    got.store(lanes);
    for (int i = 0; i < size; ++i) {
      INFO("lane " << i << ": " << a[i] << ", " << b[i]);
      CHECK(lanes[i] == expected(a[i], b[i]));
    }
  }
};

template <class T>
T first(Packet<T> x) {
  return x.v[0];
}

}  // namespace

TEMPLATE_TEST_CASE("packets calculate as a loop over their lanes does", "[packet]", float, double) {
  using T = TestType;
  const Operands<T> o;
  const auto a = o.pa, b = o.pb;
  o.check(a + b, [](T x, T y) { return x + y; });
  o.check(a - b, [](T x, T y) { return x - y; });
  o.check(a * b, [](T x, T y) { return x * y; });
  o.check(a / b, [](T x, T y) { return x / y; });
  o.check(-a, [](T x, T) { return -x; });
  o.check(multiply_add(a, b, 1), [](T x, T y) { return x * y + 1; });
  o.check(min(a, b), [](T x, T y) { return x < y ? x : y; });
  o.check(max(a, b), [](T x, T y) { return x > y ? x : y; });
  o.check(clamp(a, -1, 2), [](T x, T) { return x < -1 ? T(-1) : x > 2 ? T(2) : x; });
  o.check(copysign(a, b), [](T x, T y) { return std::copysign(x, y); });
  o.check(pow(abs(a), b), [](T x, T y) { return std::pow(std::fabs(x), y); });
  o.check(atan2(a, b), [](T x, T y) { return std::atan2(x, y); });
  o.check(fmod(a, b), [](T x, T y) { return std::fmod(x, y); });
  o.check(hypot(a, b), [](T x, T y) { return std::hypot(x, y); });
  o.check(nextafter(a, b), [](T x, T y) { return std::nextafter(x, y); });
  o.check(ldexp(a, floor(b)), [](T x, T y) { return std::ldexp(x, int(std::floor(y))); });
  o.check(logb(a), [](T x, T) { return std::logb(x); });
  auto sum = a;
  sum += b;
  sum *= 2;
  sum -= 1;
  sum /= 4;
  o.check(sum, [](T x, T y) { return ((x + y) * 2 - 1) / 4; });
}

TEMPLATE_TEST_CASE("packet comparisons and masks", "[packet]", float, double) {
  using T = TestType;
  const Operands<T> o;
  const auto a = o.pa, b = o.pb;
  o.check(a < b, [](T x, T y) { return x < y; });
  o.check(a > b, [](T x, T y) { return x > y; });
  o.check(a <= b, [](T x, T y) { return x <= y; });
  o.check(a >= b, [](T x, T y) { return x >= y; });
  o.check(a == b, [](T x, T y) { return x == y; });
  o.check(a != b, [](T x, T y) { return x != y; });
  o.check((a < b) & (a > 0), [](T x, T y) { return x < y && x > 0; });
  o.check((a < b) | (a > 0), [](T x, T y) { return x < y || x > 0; });
  o.check((a < b) ^ (a > 0), [](T x, T y) { return (x < y) != (x > 0); });
  o.check(!(a < b), [](T x, T y) { return !(x < y); });
  o.check(where(a < b, a, b), [](T x, T y) { return x < y ? x : y; });
  o.check(where(a < b, 1, 0), [](T x, T y) { return T(x < y); });
  CHECK(any(a == b));
  CHECK_FALSE(any(a > 100));
}

TEMPLATE_TEST_CASE("numbers of any type convert to packets", "[packet]", float, double) {
  using T = TestType;
  const Packet<T> x = 3;
  CHECK(first(1 + x) == T(4));
  CHECK(first(x * 0.5) == T(1.5));
  CHECK(first(x - 1.5f) == T(1.5));
  CHECK(first(6L / x) == T(2));
  CHECK(first(max(x, 5)) == T(5));
  CHECK(first(pow(2, x)) == T(8));
  CHECK(std::signbit(first(Packet<T>(-0.0))));
}

TEMPLATE_TEST_CASE("packets and special values", "[packet]", float, double) {
  using T = TestType;
  using P = Packet<T>;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const auto& f : {+[](P a, P b) { return min(a, b); }, +[](P a, P b) { return max(a, b); }}) {
    CHECK(std::isnan(first(f(nan, 1))));
    CHECK(std::isnan(first(f(1, nan))));
  }
  CHECK(std::isnan(first(clamp(P(nan), 0, 1))));
  CHECK(first(clamp(P(inf), 0, 1)) == T(1));
  CHECK_FALSE(any(P(nan) == P(nan)));
  CHECK(any(P(nan) != P(nan)));
  CHECK(first(1 / P(0)) == inf);
  CHECK(first(1 / -P(0)) == -inf);
  CHECK(std::isnan(first(copysign(P(nan), 1))));
}

}  // namespace expr_packet
