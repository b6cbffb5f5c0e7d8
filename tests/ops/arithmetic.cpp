#include "support/sixteen_bits.hpp"
#include "support/unary.hpp"
#include "tern/ops/arithmetic.hpp"

namespace ops_arithmetic {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  using X = Tensor<D, T>;
  return {TERN_TEST_UNARY(neg, -v),
          {"add a number", [](const X& x) { return x + 1.5; }, [](const X& x) { return x += 1.5; },
           [](double v) { return v + 1.5; }},
          {"number first", [](const X& x) { return 1.5 + x; }, {}, [](double v) { return 1.5 + v; }},
          {"sub a number", [](const X& x) { return x - 1.5; }, [](const X& x) { return x -= 1.5; },
           [](double v) { return v - 1.5; }},
          {"rsub", [](const X& x) { return 1.5 - x; }, {}, [](double v) { return 1.5 - v; }},
          {"mul by a number", [](const X& x) { return x * 1.5; }, [](const X& x) { return x *= 1.5; },
           [](double v) { return v * 1.5; }},
          {"div by a number", [](const X& x) { return x / 1.5; }, [](const X& x) { return x /= 1.5; },
           [](double v) { return v / 1.5; }},
          {"rdiv", [](const X& x) { return 1.5 / x; }, {}, [](double v) { return 1.5 / v; }, 0.2, 3}};
}

template <class D, class T>
void check_binary() {
  const auto a = tensor_of<D, T>({6, 7, 8, 9, 10, 11}, {2, 3}), b = tensor_of<D, T>({1, 2, 3});
  check_close(values_of(a + b), {7, 9, 11, 10, 12, 14});
  check_close(values_of(a - b), {5, 5, 5, 8, 8, 8});
  check_close(values_of(a * b), {6, 14, 24, 9, 20, 33});
  check_close(values_of(add(a, b, 2)), {8, 11, 14, 11, 14, 17});
  check_close(values_of(sub(a, b, 2)), {4, 3, 2, 7, 6, 5});
  for (const auto& x : layouts(a)) {
    check_close(values_of(x += b), {7, 9, 11, 10, 12, 14});
    check_close(values_of(x -= b), {6, 7, 8, 9, 10, 11});
    check_close(values_of(x *= b), {6, 14, 24, 9, 20, 33});
    if constexpr (detail::is_floating_v<T>) check_close(values_of(x /= b), {6, 7, 8, 9, 10, 11});
    else check_close(values_of(x.floor_divide_(b)), {6, 7, 8, 9, 10, 11});
    check_close(values_of(x.add_(b, 2)), {8, 11, 14, 11, 14, 17});
    check_close(values_of(x.sub_(b, 2)), {6, 7, 8, 9, 10, 11});
  }
}

}  // namespace

TEMPLATE_TEST_CASE("arithmetic with numbers", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-14);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-6);
}

TEMPLATE_TEST_CASE("arithmetic of every type", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_binary<D, double>();
  check_binary<D, float>();
  check_binary<D, bfloat16>();
  check_binary<D, half>();
  check_binary<D, Index>();
  check_binary<D, std::int32_t>();
  check_binary<D, std::uint8_t>();
}

TEMPLATE_TEST_CASE("arithmetic of integers wraps around", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_close(values_of(tensor_of<D, std::uint8_t>({250, 3}) + tensor_of<D, std::uint8_t>({10, 4})), {4, 7});
  check_close(values_of(-tensor_of<D, std::uint8_t>({1})), {255});
}

TEST_CASE("gradients of arithmetic", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
  const auto a = spread_tensor<Cpu>({2, 3}).requires_grad_(), b = spread_tensor<Cpu>({3}, 1, 2).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{a, b}));
    CHECK(gradgradcheck(f, std::tuple{a, b}));
  };
  check([](const auto& x, const auto& y) { return x + y; });
  check([](const auto& x, const auto& y) { return x - y; });
  check([](const auto& x, const auto& y) { return x * y; });
  check([](const auto& x, const auto& y) { return x / y; });
  check([](const auto& x, const auto& y) { return add(x, y, 1.5) * sub(y, x, 0.5); });
  check([](const auto& x, const auto& y) { return x * x / (y * y); });
  check([](const auto& x, const auto& y) { return ((x.clone() += y) *= y).sub_(y, 2) /= y; });
}

TEMPLATE_TEST_CASE("arithmetic refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3}), y = spread_tensor<TestType>({2});
  CHECK(error_of([&] { x + y; }) == "add: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { x - y; }) == "sub: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { x* y; }) == "mul: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { x / y; }) == "div: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { x += spread_tensor<TestType>({2, 3}); }) ==
        "add_: a result of shape [2, 3] cannot be written into a tensor of shape [3]");
  CHECK(error_of([&] { x.expand({2, 3}) += 1; }).find("add_: several elements") == 0);
}

TEMPLATE_TEST_CASE("gradients of broadcast operands in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto a = spread_tensor<TestType>({300, 3}, -2, 2), b = tensor_of<TestType>({0.3, 0.7, 1.9});
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return x / y; }, a, b);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return y / x; },
                                spread_tensor<TestType>({300, 3}, 0.5, 2), b);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return x * y; }, a, b);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return x.sub(y, 0.3); }, a, b);
}

}  // namespace ops_arithmetic
