#include "support/recorded.hpp"
#include "support/sixteen_bits.hpp"
#include "support/unary.hpp"
#include "tern/ops/fuse.hpp"
#include "tern/ops/trigonometric.hpp"

namespace ops_trigonometric {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  return {TERN_TEST_UNARY(sin, std::sin(v), -7, 7),
          TERN_TEST_UNARY(cos, std::cos(v), -7, 7),
          TERN_TEST_UNARY(tan, std::tan(v), -1.4, 1.4),
          TERN_TEST_UNARY(asin, std::asin(v), -0.9, 0.9),
          TERN_TEST_UNARY(acos, std::acos(v), -0.9, 0.9),
          TERN_TEST_UNARY(atan, std::atan(v), -3, 3),
          TERN_TEST_UNARY(sinh, std::sinh(v)),
          TERN_TEST_UNARY(cosh, std::cosh(v)),
          TERN_TEST_UNARY(tanh, std::tanh(v)),
          TERN_TEST_UNARY(asinh, std::asinh(v), -3, 3),
          TERN_TEST_UNARY(acosh, std::acosh(v), 1.2, 3),
          TERN_TEST_UNARY(atanh, std::atanh(v), -0.9, 0.9)};
}

}  // namespace

TEMPLATE_TEST_CASE("circular and hyperbolic functions", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-12);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-5);
}

TEST_CASE("gradients of circular and hyperbolic functions", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
}

TEMPLATE_TEST_CASE("atan2 and hypot", "[ops]", TERN_TEST_DEVICES) {
  const auto y = spread_tensor<TestType>({5, 7}), x = spread_tensor<TestType>({7}, -3, 3);
  std::vector<double> angles, lengths;
  const auto a = values_of(y), b = values_of(x);
  for (std::size_t i = 0; i < a.size(); ++i) {
    angles.push_back(std::atan2(a[i], b[i % 7]));
    lengths.push_back(std::hypot(a[i], b[i % 7]));
  }
  for (const auto& layout : layouts(y)) {
    check_close(values_of(atan2(layout, x)), angles);
    check_close(values_of(hypot(layout, x)), lengths);
    check_close(values_of(layout.clone().hypot_(x)), lengths);
    check_close(values_of(layout.atan2_(x)), angles);
  }
  CHECK(error_of([&] { atan2(x, spread_tensor<TestType>({4})); }) == "atan2: shapes do not broadcast: [7] and [4]");
  CHECK(error_of([&] { hypot({}, x); }) == "hypot: a tensor is undefined");
  CHECK(error_of([&] { x.atan2_(y); }).find("atan2_: a result of shape [5, 7]") == 0);
}

TEST_CASE("gradients of atan2 and hypot", "[ops][gradcheck]") {
  const auto a = spread_tensor<Cpu>({2, 3}).requires_grad_(), b = spread_tensor<Cpu>({3}, 1, 3).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{a, b}));
    CHECK(gradgradcheck(f, std::tuple{a, b}));
  };
  check([](const auto& y, const auto& x) { return atan2(y, x); });
  check([](const auto& x, const auto& y) { return hypot(x, y); });
  check([](const auto& y, const auto& x) { return y.clone().atan2_(x); });
}

TEMPLATE_TEST_CASE("gradients of a broadcast side in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto a = spread_tensor<TestType>({300, 3}), b = tensor_of<TestType>({0.3, 0.7, 1.9});
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return hypot(x, y); }, a, b);
}

TEMPLATE_TEST_CASE("atan2 at the origin is PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  const auto check = [](const auto& op) {
    const RecordedCase recorded("atan2 at the origin", 1e-12, "singular");
    const auto y = recorded.input<TestType>(0), x = recorded.input<TestType>(1);
    recorded.check(op(y, x), y, x);
  };
  check([](const auto& y, const auto& x) { return atan2(y, x); });
  check(fuse([](auto y, auto x) { return atan2(y, x); }));
}

}  // namespace ops_trigonometric
