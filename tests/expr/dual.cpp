#include <tern/expr/dual.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace expr_dual {
using namespace tern::detail::expr;

namespace {

using V = Packet<double>;
using Scalar = Lanes<double, 1>;

double lane(V x) { return x.v[0]; }
double lane(Scalar x) { return x.v[0]; }

/// df/dx_K at x, by duals of packets.
template <int K, class F, class... X>
double partial(F f, X... x) {
  return lane(Partial<K, F>{f}(V(1), V(x)...));
}

/// d2f/dx_J dx_K at x.
template <int J, int K, class F, class... X>
double second(F f, X... x) {
  using First = Partial<K, F>;
  return lane(Partial<J + 1, First>{First{f}}(V(1), V(1), V(x)...));
}

/// Central differences with a step that balances truncation and rounding, good to about 1e-9.
template <class G>
double difference(G g, double x) {
  const double h = 1e-4 * std::fmax(std::fabs(x), 0.1);
  // Richardson: the h^2 term of the error cancels between h and h/2.
  const double coarse = (g(x + h) - g(x - h)) / (2 * h), fine = (g(x + h / 2) - g(x - h / 2)) / h;
  return (4 * fine - coarse) / 3;
}

void check_close(double got, double expected) {
  INFO(got << " is not " << expected);
  CHECK(std::fabs(got - expected) <= 1e-8 * std::fmax(std::fabs(expected), 1.0));
}

/// First and second derivatives of a function of one argument against differences of its values and of its first
/// derivatives.
template <class F>
void check_function(const char* name, F f, std::initializer_list<double> points) {
  for (double x : points) {
    INFO(name << " at " << x);
    check_close(partial<0>(f, x), difference([&](double p) { return lane(f(V(p))); }, x));
    check_close(second<0, 0>(f, x), difference([&](double p) { return partial<0>(f, p); }, x));
  }
}

template <class F>
void check_function(const char* name, F f, std::initializer_list<std::pair<double, double>> points) {
  for (auto [a, b] : points) {
    const double x = a, y = b;
    INFO(name << " at " << x << ", " << y);
    check_close(partial<0>(f, x, y), difference([&](double p) { return lane(f(V(p), V(y))); }, x));
    check_close(partial<1>(f, x, y), difference([&](double p) { return lane(f(V(x), V(p))); }, y));
    check_close(second<0, 0>(f, x, y), difference([&](double p) { return partial<0>(f, p, y); }, x));
    check_close(second<1, 0>(f, x, y), difference([&](double p) { return partial<0>(f, x, p); }, y));
    check_close(second<0, 1>(f, x, y), difference([&](double p) { return partial<1>(f, p, y); }, x));
    check_close(second<1, 1>(f, x, y), difference([&](double p) { return partial<1>(f, x, p); }, y));
  }
}

}  // namespace

#define CHECK_1(name, ...) \
  check_function(#name, [](auto x) { return name(x); }, std::initializer_list<double>{__VA_ARGS__})
#define CHECK_2(name, ...) \
  check_function(          \
      #name, [](auto x, auto y) { return name(x, y); }, std::initializer_list<std::pair<double, double>>{__VA_ARGS__})

TEST_CASE("derivatives of functions of one argument are their finite differences", "[dual]") {
  CHECK_1(exp, -2.0, 0.3, 1.7);
  CHECK_1(exp2, -2.0, 0.3, 1.7);
  CHECK_1(expm1, -2.0, 0.3, 1.7);
  CHECK_1(log, 0.4, 3.0);
  CHECK_1(log2, 0.4, 3.0);
  CHECK_1(log10, 0.4, 3.0);
  CHECK_1(log1p, -0.4, 3.0);
  CHECK_1(sqrt, 0.4, 3.0);
  CHECK_1(rsqrt, 0.4, 3.0);
  CHECK_1(reciprocal, -0.4, 3.0);
  CHECK_1(square, -0.4, 3.0);
  CHECK_1(sin, -2.0, 0.3, 1.7);
  CHECK_1(cos, -2.0, 0.3, 1.7);
  CHECK_1(tan, -1.0, 0.3, 1.2);
  CHECK_1(asin, -0.7, 0.3);
  CHECK_1(acos, -0.7, 0.3);
  CHECK_1(atan, -0.7, 2.3);
  CHECK_1(sinh, -0.7, 2.3);
  CHECK_1(cosh, -0.7, 2.3);
  CHECK_1(tanh, -0.7, 2.3);
  CHECK_1(asinh, -0.7, 2.3);
  CHECK_1(acosh, 1.4, 2.3);
  CHECK_1(atanh, -0.7, 0.3);
  CHECK_1(sigmoid, -0.7, 2.3);
  CHECK_1(erf, -0.7, 1.3);
  CHECK_1(erfc, -0.7, 1.3);
  CHECK_1(erfinv, -0.7, 0.3);
  CHECK_1(lgamma, -0.7, 2.3);
  CHECK_1(digamma, -0.7, 2.3);
  CHECK_1(abs, -0.7, 2.3);
  CHECK_1(sign, -0.7, 2.3);
  CHECK_1(floor, -0.7, 2.3);
  CHECK_1(ceil, -0.7, 2.3);
  CHECK_1(round, -0.7, 2.3);
  CHECK_1(trunc, -0.7, 2.3);
  CHECK_1(frac, -0.7, 2.3);
  check_function("polygamma", [](auto x) { return polygamma(2, x); }, {0.6, 2.3});
  check_function("negation", [](auto x) { return -x * +x; }, {0.6, 2.3});
  check_function("clamp", [](auto x) { return clamp(x * x, 0.5, 2); }, {0.3, 1.2, 3.0});
}

TEST_CASE("derivatives of functions of two arguments are their finite differences", "[dual]") {
  CHECK_2(pow, {0.7, 1.3}, {2.2, -0.6});
  CHECK_2(atan2, {0.7, 1.3}, {-0.4, -0.6});
  CHECK_2(fmod, {5.7, 1.3}, {-5.7, 1.3});
  CHECK_2(hypot, {0.7, 1.3}, {-0.4, -0.6});
  CHECK_2(copysign, {0.7, 1.3}, {-0.4, 0.6});
  CHECK_2(min, {0.7, 1.3}, {0.8, -0.6});
  CHECK_2(max, {0.7, 1.3}, {0.8, -0.6});
  check_function("sum", [](auto x, auto y) { return x * x + y * x; }, {{0.7, 1.3}});
  check_function("difference", [](auto x, auto y) { return x * x - y * y; }, {{0.7, 1.3}});
  check_function("quotient", [](auto x, auto y) { return x / y; }, {{0.7, 1.3}});
  check_function("multiply_add", [](auto x, auto y) { return multiply_add(x, y, x * y * y); }, {{0.7, 1.3}});
  check_function("clamp", [](auto x, auto y) { return clamp(x * y, x, y * y); }, {{0.7, 1.3}, {1.4, 1.2}, {1.6, 1.1}});
}

TEST_CASE("a lambda with literals, where and assignments is differentiated like any", "[dual]") {
  const auto f = [](auto x, auto beta) {
    auto y = x / (1 + exp(-beta * x));
    y += where(x > 1, 0.5 * x, pow(x, 3));
    y *= 2;
    y -= where(x < beta, 1, 0);
    return y / 3;
  };
  check_function("f", f, {{0.7, 1.5}, {1.7, 0.4}, {-0.4, 2}});
  CHECK(partial<0>([](auto x) { return where(x > 0, 1, 0); }, 2.0) == 0);
}

TEST_CASE("at kinks the derivatives are PyTorch's", "[dual]") {
  const auto at_zero = [](auto f) { return partial<0>(f, 0.0); };
  CHECK(at_zero([](auto x) { return abs(x); }) == 0);
  CHECK(at_zero([](auto x) { return where(x > 0, x, 0); }) == 0);
  CHECK(at_zero([](auto x) { return sqrt(x); }) == std::numeric_limits<double>::infinity());
  CHECK(at_zero([](auto x) { return max(x, 0); }) == 0.5);
  CHECK(at_zero([](auto x) { return min(x, 0); }) == 0.5);
  CHECK(at_zero([](auto x) { return clamp(x, 0, 1); }) == 0);
  CHECK(at_zero([](auto x) { return pow(x, 0); }) == 0);
  CHECK(at_zero([](auto x) { return pow(x, 1); }) == 1);
  CHECK(partial<0>([](auto x, auto y) { return max(x, y); }, 3.0, 3.0) == 0.5);
  CHECK(partial<1>([](auto x, auto y) { return max(x, y); }, 3.0, 3.0) == 0.5);
  CHECK(partial<1>([](auto x, auto y) { return pow(x, y); }, 0.0, 2.0) == 0);
}

TEST_CASE("what does not depend on the input contributes nothing, infinite factors included", "[dual]") {
  CHECK(partial<0>([](auto x, auto y) { return x * sqrt(y); }, 3.0, 0.0) == 0);
  CHECK(partial<0>([](auto x, auto y) { return x * y; }, HUGE_VAL, 2.0) == 2);
  CHECK(partial<0>([](auto x, auto y) { return x / y; }, 1.0, 0.0) == HUGE_VAL);
  CHECK(partial<0>([](auto x, auto y) { return pow(x, y); }, 0.0, 2.0) == 0);
  CHECK(partial<0>([](auto x, auto y) { return where(x > 0, x, log(y)); }, -1.0, 0.0) == 0);
}

TEST_CASE("comparisons of duals compare values", "[dual]") {
  const Dual<V> a(V(1), V(5)), b(V(2), V(-5));
  CHECK(any(a < b));
  CHECK(any(a <= 1));
  CHECK(any(2 > a));
  CHECK(any(b >= a));
  CHECK(any(a == 1));
  CHECK(any(a != b));
  CHECK(any(a != 0));
  CHECK_FALSE(any(isnan(a) | isinf(a)));
  CHECK(any(isfinite(a)));
}

TEST_CASE("the incoming gradient multiplies, and can itself be differentiated by", "[dual]") {
  const auto f = [](auto x, auto y) { return x * x * y; };
  using Df = Partial<0, decltype(f)>;
  CHECK(lane(Df{f}(V(3), V(5), V(7))) == 3 * 2 * 5 * 7);
  CHECK(lane(Partial<0, Df>{Df{f}}(V(1), V(3), V(5), V(7))) == 2 * 5 * 7);
  CHECK(lane(Partial<1, Df>{Df{f}}(V(2), V(3), V(5), V(7))) == 2 * 3 * 2 * 7);
  CHECK(lane(Partial<2, Df>{Df{f}}(V(2), V(3), V(5), V(7))) == 2 * 3 * 2 * 5);
}

TEST_CASE("third derivatives, and duals of scalar lanes", "[dual]") {
  const auto cube = [](auto x) { return 2 * pow(x, 3); };
  using D1 = Partial<0, decltype(cube)>;
  using D2 = Partial<1, D1>;
  using D3 = Partial<2, D2>;
  const Scalar one = 1;
  CHECK(lane(D3{D2{D1{cube}}}(one, one, one, Scalar(1.5))) == Approx(12));
}

TEST_CASE("a partial derivative whose number is known only at run time", "[dual]") {
  const auto f = [](auto x, auto y) { return x * x * sqrt(y); };
  for (const int k : {0, 1}) {
    const AnyPartial<decltype(f)> partial{f, k};
    CHECK(lane(partial(V(3), V(5), V(4))) == (k == 0 ? 3 * 2 * 5 * 2 : 3 * 25 / 4.));
  }
  CHECK(lane(AnyPartial<decltype(f)>{f, 0}(V(3), V(5), V(0))) == 0);  // not 0 times an infinite factor
}

}  // namespace expr_dual
