#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"
#include "tern/ops/blend.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_blend {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("lerp", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({3, 4}), b = spread_tensor<D>({4}, 5, 6);
  const auto x = values_of(a), y = values_of(b);
  for (const double w : {0., 0.3, 0.5, 0.8, 1., 1.5}) {
    std::vector<double> expected;
    for (std::size_t i = 0; i < 12; ++i) expected.push_back(x[i] + w * (y[i % 4] - x[i]));
    for (const auto& layout : layouts(a)) check_close(values_of(lerp(layout, b, w)), expected);
    check_close(values_of(lerp(a, b, full<D, double>({}, w))), expected);
    for (const auto& layout : layouts(a)) check_close(values_of(layout.lerp_(b, w)), expected);
    for (const auto& layout : layouts(a)) check_close(values_of(layout.lerp_(b, full<D, double>({1}, w))), expected);
  }
  check_close(values_of(lerp(a, b, 1)), values_of(b.expand({3, 4})), 0, 0);
  CHECK(error_of([&] { lerp(a, spread_tensor<D>({3}), 0.5); }) == "lerp: shapes do not broadcast: [3, 4] and [3]");
}

TEMPLATE_TEST_CASE("addcmul and addcdiv", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4}), a = spread_tensor<D>({4}, 1, 2), b = spread_tensor<D>({3, 1}, 2, 3);
  std::vector<double> products, quotients;
  const auto u = values_of(x), v = values_of(a), w = values_of(b);
  for (std::size_t i = 0; i < 12; ++i) {
    products.push_back(u[i] + 1.5 * v[i % 4] * w[i / 4]);
    quotients.push_back(u[i] + 1.5 * v[i % 4] / w[i / 4]);
  }
  for (const auto& layout : layouts(x)) {
    check_close(values_of(addcmul(layout, a, b, 1.5)), products);
    check_close(values_of(addcdiv(layout, a, b, 1.5)), quotients);
    check_close(values_of(layout.clone().addcmul_(a, b, 1.5)), products);
    check_close(values_of(layout.addcdiv_(a, b, 1.5)), quotients);
  }
  const auto i = tensor_of<D, Index>({1, 2, 3});
  check_close(values_of(addcmul(i, i, i, 2)), {3, 10, 21});
  CHECK(error_of([&] { addcmul(x, a, spread_tensor<D>({3})); }).find("addcmul: shapes do not broadcast") == 0);
  CHECK(error_of([&] { addcdiv(x, a, {}); }) == "addcdiv: a tensor is undefined");
  CHECK(error_of([&] { addcmul_(a, x, b); }).find("addcmul_: a result of shape [3, 4]") == 0);
}

TEST_CASE("gradients of lerp, addcmul and addcdiv", "[ops][gradcheck]") {
  const auto x = spread_tensor<Cpu>({2, 3}).requires_grad_(), y = spread_tensor<Cpu>({3}, 1, 2).requires_grad_();
  const auto z = spread_tensor<Cpu>({2, 1}, 2, 3).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, y, z}));
    CHECK(gradgradcheck(f, std::tuple{x, y, z}));
  };
  check([](const auto& a, const auto& b, const auto& w) { return lerp(a, b, w); });
  check([](const auto& a, const auto& b, const auto& w) { return lerp(a, b, 0.3) * w; });
  check([](const auto& a, const auto& b, const auto& w) { return a.clone().lerp_(b, w).lerp_(b, 0.6); });
  check([](const auto& a, const auto& b, const auto& c) { return addcmul(a, b, c, 1.5); });
  check([](const auto& a, const auto& b, const auto& c) { return addcdiv(a, b, c, 1.5); });
  check([](const auto& a, const auto& b, const auto& c) { return a.clone().addcdiv_(b, c).addcmul_(b, c, 0.5); });
}

TEMPLATE_TEST_CASE("gradients of broadcast ends in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto a = spread_tensor<TestType>({300, 3}), b = tensor_of<TestType>({0.3, 0.7, 1.9});
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return lerp(x, y, 0.3); }, a, b);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return lerp(y, x, 0.3); }, a, b);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return addcdiv(zeros_like(x.detach()), x, y); }, a,
                                b);
}

}  // namespace ops_blend
