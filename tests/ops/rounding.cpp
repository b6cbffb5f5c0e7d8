#include "support/recorded.hpp"
#include "support/unary.hpp"
#include "tern/ops/rounding.hpp"

namespace ops_rounding {
using namespace tern;
using namespace tern_test;

namespace {

double sign_of(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

// Values and gradients are looked at between -0.9 and -0.1: away from the steps.
template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  std::vector<UnaryOp<D, T>> all{
      TERN_TEST_UNARY(abs, std::fabs(v), -3, -0.1),         TERN_TEST_UNARY(sign, sign_of(v), -3, -0.1),
      TERN_TEST_UNARY(floor, std::floor(v), -0.9, -0.1),    TERN_TEST_UNARY(ceil, std::ceil(v), -0.9, -0.1),
      TERN_TEST_UNARY(round, std::nearbyint(v), -0.4, 0.4), TERN_TEST_UNARY(trunc, std::trunc(v), -0.9, -0.1),
      TERN_TEST_UNARY(frac, v - std::trunc(v), -0.9, -0.1)};
  for (double s : {1.5, -1.5}) {
    const std::string by = " by " + std::to_string(s);
    all.push_back({"fmod" + by, [s](const auto& x) { return fmod(x, s); }, [s](const auto& x) { return fmod_(x, s); },
                   [s](double v) { return std::fmod(v, s); }, 0.1, 1.4});
    all.push_back({"remainder" + by, [s](const auto& x) { return remainder(x, s); },
                   [s](const auto& x) { return remainder_(x, s); },
                   [s](double v) {
                     const double r = std::fmod(v, s);
                     return r != 0 && (r < 0) != (s < 0) ? r + s : r;
                   },
                   0.1, 1.4});
    all.push_back({"floor_divide" + by, [s](const auto& x) { return floor_divide(x, s); },
                   [s](const auto& x) { return floor_divide_(x, s); },
                   [s](double v) { return std::isinf(v) ? NAN : std::floor(v / s); },  // as Python's and PyTorch's
                   0.1, 1.4});
  }
  return all;
}

struct Case {
  double a, b, fmod, remainder, floored, truncated;
};
constexpr Case cases[] = {{5, 3, 2, 2, 1, 1}, {-5, 3, -2, 1, -2, -1}, {5, -3, 2, -1, -2, -1}, {-5, -3, -2, -2, 1, 1},
                          {6, 3, 0, 0, 2, 2}, {-6, 3, 0, 0, -2, -2},  {0, 7, 0, 0, 0, 0},     {1, 7, 1, 1, 0, 0}};

template <class D, class T>
void check_division() {
  std::vector<double> a, b, f, r, q, t;
  for (const Case& c : cases) {
    if (!std::is_signed_v<T> && !detail::is_floating_v<T> && (c.a < 0 || c.b < 0)) continue;
    a.push_back(c.a), b.push_back(c.b), f.push_back(c.fmod), r.push_back(c.remainder), q.push_back(c.floored);
    t.push_back(c.truncated);
  }
  const auto x = tensor_of<D, T>(a), y = tensor_of<D, T>(b);
  check_close(values_of(fmod(x, y)), f);
  check_close(values_of(remainder(x, y)), r);
  check_close(values_of(floor_divide(x, y)), q);
  check_close(values_of(div(x, y, "floor")), q);
  check_close(values_of(div(x, y, "trunc")), t);
  check_close(values_of(div(x, 3, "floor")), values_of(floor_divide(x, 3)));
  check_close(values_of(x.div(3, "trunc")), values_of(div(x, full_like(x, 3), "trunc")));
  check_close(values_of(x.clone().fmod_(y)), f);
  check_close(values_of(x.clone().remainder_(y)), r);
  check_close(values_of(x.clone().floor_divide_(y)), q);
}

}  // namespace

TEMPLATE_TEST_CASE("rounding", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-12);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-5);
}

TEST_CASE("gradients of rounding", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
}

TEMPLATE_TEST_CASE("round to decimals", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1.2345, -1.2355, 1250, 1350});
  check_close(values_of(round(x, 2)), {1.23, -1.24, 1250, 1350});
  check_close(values_of(round(x, -2)), {0, 0, 1200, 1400});
  check_close(values_of(x.round(0)), {1, -1, 1250, 1350});
}

TEMPLATE_TEST_CASE("the signs of remainders and quotients", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_division<D, double>();
  check_division<D, float>();
  check_division<D, half>();
  check_division<D, Index>();
  check_division<D, std::int32_t>();
  check_division<D, std::uint8_t>();
}

TEMPLATE_TEST_CASE("division by zero and a quotient next to an integer", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, -1, 0}), zero = tensor_of<D>({0, 0, 0});
  check_close(values_of(floor_divide(x, zero)), {INFINITY, -INFINITY, NAN});
  check_close(values_of(remainder(x, zero)), {NAN, NAN, NAN});
  check_close(values_of(floor_divide(tensor_of<D>({1.0}), 0.1)), {9});  // 0.1 is a little more than a tenth
}

namespace {

template <class D, class T>
void check_zero_divisors() {
  const auto x = tensor_of<D, T>({7, 5, 0}), y = tensor_of<D, T>({1, 0, 2});
  const auto refused = [](const std::string& op, const auto& f) {
    CHECK(error_of(f) == op + ": an integer is divided by zero");
  };
  refused("fmod", [&] { fmod(x, y); });
  refused("remainder", [&] { remainder(x, y); });
  refused("remainder", [&] { x % y; });
  refused("floor_divide", [&] { floor_divide(x, y); });
  refused("floor_divide", [&] { x.expand({2, 3}).floor_divide(y.select(0, 1)); });
  refused("floor_divide", [&] { div(x, y, "floor"); });
  refused("div", [&] { div(x, y, "trunc"); });
  refused("fmod_", [&] { x.fmod_(y); });
  refused("remainder_", [&] { x.remainder_(y); });
  refused("floor_divide_", [&] { x.floor_divide_(y); });
  const auto z = tensor_of<D, T>({7, 5, 0});
  refused("fmod", [&] { fmod(z, 0); });
  refused("floor_divide", [&] { div(z, 0, "floor"); });
  refused("div", [&] { div(z, 0, "trunc"); });
  refused("remainder", [&] { z % 0; });
  refused("floor_divide", [&] { floor_divide(z, 0); });
  refused("fmod_", [&] { z.fmod_(0); });
  refused("remainder_", [&] { z.remainder_(0); });
  refused("floor_divide_", [&] { z.floor_divide_(0); });
  check_close(values_of(z), {7, 5, 0});
  CHECK(floor_divide(x.slice(0, {0, 0}), y.slice(0, {0, 0})).numel() == 0);
  CHECK(floor_divide(y, z.clone().add_(1)).numel() == 3);
}

}  // namespace

TEMPLATE_TEST_CASE("integers are not divided by zero", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_zero_divisors<D, Index>();
  check_zero_divisors<D, std::int32_t>();
  check_zero_divisors<D, std::uint8_t>();
}

TEMPLATE_TEST_CASE("quotients and remainders at zeros, infinities and NaN are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Json& recorded : recorded_cases("division")) {
    const std::string name = recorded["name"];
    const auto expected = numbers_of(recorded["output"]);
    const auto check = [&](auto type) {
      using T = typename decltype(type)::type;
      INFO(name << " of " << detail::name_of(dtype_of<T>));
      const auto a = tensor_of<D, T>(numbers_of(recorded["a"])), b = tensor_of<D, T>(numbers_of(recorded["b"]));
      const auto actual = values_of(name == "fmod"        ? fmod(a, b)
                                    : name == "remainder" ? remainder(a, b)
                                                          : floor_divide(a, b));
      check_close(actual, expected, 0, 0);
      for (std::size_t i = 0; i < actual.size(); ++i)
        if (expected[i] == 0) CHECK(std::signbit(actual[i]) == std::signbit(expected[i]));
    };
    check(f64);
    check(f32);
    check(f16);
    check(bf16);
  }
}

TEST_CASE("gradients of remainders", "[ops][gradcheck]") {
  const auto x = tensor_of<Cpu>({5, -5, 4.5, -7.25}).requires_grad_(),
             y = tensor_of<Cpu>({3, 3, -2, 1.5}).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, y}));
    CHECK(gradgradcheck(f, std::tuple{x, y}));
  };
  check([](const auto& a, const auto& b) { return fmod(a, b); });
  check([](const auto& a, const auto& b) { return remainder(a, b); });
  check([](const auto& a, const auto& b) { return floor_divide(a, b); });
  check([](const auto& a, const auto& b) { return div(a, b, "trunc"); });
}

TEMPLATE_TEST_CASE("rounding refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3}), y = spread_tensor<TestType>({2});
  CHECK(error_of([&] { fmod(x, y); }) == "fmod: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { remainder(x, y); }) == "remainder: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { floor_divide(x, y); }) == "floor_divide: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { div(x, x, "up"); }) == "div: rounding_mode is \"trunc\" or \"floor\", not \"up\"");
  CHECK(error_of([&] { div(x, 2, "up"); }) == "div: rounding_mode is \"trunc\" or \"floor\", not \"up\"");
}

}  // namespace ops_rounding
