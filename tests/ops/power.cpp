#include "support/recorded.hpp"
#include "support/unary.hpp"
#include "tern/ops/fuse.hpp"
#include "tern/ops/power.hpp"

namespace ops_power {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  std::vector<UnaryOp<D, T>> all{TERN_TEST_UNARY(sqrt, std::sqrt(v), 0.1, 4),
                                 TERN_TEST_UNARY(rsqrt, 1 / std::sqrt(v), 0.1, 4),
                                 TERN_TEST_UNARY(reciprocal, 1 / v, 0.2, 4), TERN_TEST_UNARY(square, v * v)};
  for (double e : {0., 1., 2., 3., 0.5, -1., 1.7, -2.5}) {
    const double low = e == std::floor(e) && e >= 0 ? -2 : 0.2;
    all.push_back({"pow with " + std::to_string(e), [e](const auto& x) { return pow(x, e); },
                   [e](const auto& x) { return pow_(x, e); },
                   [e](double v) { return e == 0.5 ? std::sqrt(v) : std::pow(v, e); }, low});
  }
  all.push_back(
      {"pow of 1.5", [](const auto& x) { return pow(1.5, x); }, {}, [](double v) { return std::pow(1.5, v); }});
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("powers and roots", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-12);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-5);
}

TEST_CASE("gradients of powers and roots", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
}

TEMPLATE_TEST_CASE("pow of tensors", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({4, 5}, 0.2, 3), y = spread_tensor<TestType>({5}, -3, 3);
  std::vector<double> expected;
  const auto base = values_of(x), exponent = values_of(y);
  for (std::size_t i = 0; i < base.size(); ++i) expected.push_back(std::pow(base[i], exponent[i % 5]));
  for (const auto& layout : layouts(x)) {
    check_close(values_of(pow(layout, y)), expected);
    check_close(values_of(layout.pow_(y)), expected);
  }
  CHECK(error_of([&] { pow(x, spread_tensor<TestType>({4})); }) == "pow: shapes do not broadcast: [4, 5] and [4]");
  CHECK(error_of([&] { pow(x, Tensor<TestType, double>()); }) == "pow: a tensor is undefined");
  CHECK(error_of([&] { y.pow_(x); }).find("pow_: a result of shape [4, 5]") == 0);
}

TEST_CASE("gradients of pow of tensors", "[ops][gradcheck]") {
  const auto x = spread_tensor<Cpu>({2, 3}, 0.5, 2).requires_grad_(),
             y = spread_tensor<Cpu>({3}, -2, 2).requires_grad_();
  const auto f = [](const auto& a, const auto& b) { return pow(a, b); };
  CHECK(gradcheck(f, std::tuple{x, y}));
  CHECK(gradgradcheck(f, std::tuple{x, y}));
}

TEMPLATE_TEST_CASE("integer powers are exact and wrap around", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = from_vector<D, Index>({3, -2, 1, -1}, {4});
  const auto big = pow(x, 39).cpu();
  CHECK(big.data()[0] == 4052555153018976267);
  CHECK(big.data()[1] == -(Index(1) << 39));
  const auto y = full<D, Index>({}, -3);
  check_close(values_of(pow(x, y)), {0, 0, 1, -1});
  CHECK(error_of([&] { pow(x, -1); }) == "pow: an integer tensor to the negative power -1");
  CHECK(error_of([&] { pow_(x, -1); }) == "pow_: an integer tensor to the negative power -1");
  check_close(values_of(pow_(x, 2)), {9, 4, 1, 1});
  check_close(values_of(square(x)), {81, 16, 1, 1});
  const auto bytes = full<D, std::uint8_t>({}, 16);
  CHECK(pow(bytes, std::uint8_t(2)).item() == 0);
}

TEMPLATE_TEST_CASE("float_power calculates in double", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_close(values_of(float_power(full<D, std::int32_t>({1}, 10), -2)), {0.01});
  check_close(values_of(float_power(full<D, float>({1}, 10), full<D, float>({1}, 40))), {1e40});
  auto x = spread_tensor<D>({3}, 0.5, 2).requires_grad_(), y = spread_tensor<D>({3}).requires_grad_();
  CHECK(gradcheck([](const auto& a, const auto& b) { return float_power(a, b); }, std::tuple{x, y}));
  CHECK(error_of([&] { float_power(x, zeros<D, double>({2})); }) ==
        "float_power: shapes do not broadcast: [3] and [2]");
}

TEMPLATE_TEST_CASE("powers of zeros and their gradients are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check_pairs = [](const auto& op) {
    const RecordedCase recorded("pow of zeros", 1e-12, "singular");
    const auto x = recorded.input<D>(0), y = recorded.input<D>(1);
    recorded.check(op(x, y), x, y);
  };
  const auto check = [](const std::string& name, const auto& op) {
    const RecordedCase recorded(name, 1e-12, "singular");
    const auto x = recorded.input<D>(0);
    recorded.check(op(x), x);
  };
  check_pairs([](const auto& x, const auto& y) { return pow(x, y); });
  check_pairs(fuse([](auto x, auto y) { return pow(x, y); }));
  for (const char* e : {"0.0", "0.5", "1.0", "1.5", "2.0", "3.0", "-1.0", "-0.5"})
    check(std::string("pow of zeros with the number ") + e, [e](const auto& x) { return pow(x, std::stod(e)); });
  for (const char* base : {"0.0", "-0.0"}) {
    check(std::string("pow of the number ") + base, [base](const auto& x) { return pow(std::stod(base), x); });
    const auto fused = fuse([](auto b, auto x) { return pow(b, x); });
    check(std::string("pow of the number ") + base, [&](const auto& x) { return fused(std::stod(base), x); });
  }
}

TEMPLATE_TEST_CASE("logspace has powers with equal distances between their exponents", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_close(values_of(logspace<D, double>(-1, 2, 4)), {0.1, 1, 10, 100});
  check_close(values_of(logspace<D, double>(0, 3, 4, 2)), {1, 2, 4, 8});
  const Tensor<D, double> by_argument = logspace<D>(-1, 2, 4, f64), of_two = logspace<D>(0, 3, 4, 2, f64);
  check_close(values_of(by_argument), {0.1, 1, 10, 100});
  check_close(values_of(of_two), {1, 2, 4, 8});
  CHECK(values_of(logspace<D>(2, 5, 1)) == std::vector<double>{100});
  CHECK(logspace<D>(0, 1, 0).shape() == detail::Shape{0});
}

}  // namespace ops_power
