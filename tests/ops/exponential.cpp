#include "support/unary.hpp"
#include "tern/ops/exponential.hpp"

namespace ops_exponential {
using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  return {TERN_TEST_UNARY(exp, std::exp(v)),
          TERN_TEST_UNARY(exp2, std::exp2(v)),
          TERN_TEST_UNARY(expm1, std::expm1(v)),
          TERN_TEST_UNARY(log, std::log(v), 0.1, 4),
          TERN_TEST_UNARY(log2, std::log2(v), 0.1, 4),
          TERN_TEST_UNARY(log10, std::log10(v), 0.1, 4),
          TERN_TEST_UNARY(log1p, std::log1p(v), -0.9, 4),
          TERN_TEST_UNARY(sigmoid, 1 / (1 + std::exp(-v)), -5, 5),
          TERN_TEST_UNARY(logit, std::log(v / (1 - v)), 0.05, 0.95)};
}

}  // namespace

TEMPLATE_TEST_CASE("exponentials and logarithms", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-12);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-5);
}

TEST_CASE("gradients of exponentials and logarithms", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
}

TEMPLATE_TEST_CASE("logit with eps stays away from 0 and 1", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({-1, 0, 0.05, 0.5, 1, 2}).requires_grad_();
  const auto y = logit(x, 0.1);
  const double end = std::log(0.9 / 0.1);
  check_close(values_of(y), {-end, -end, -end, 0, end, end});
  y.backward(ones_like(y));
  check_close(values_of(x.grad()), {0, 0, 0, 4, 0, 0});
}

TEMPLATE_TEST_CASE("logaddexp", "[ops]", TERN_TEST_DEVICES) {
  const auto a = tensor_of<TestType>({1, 1000, -INFINITY, INFINITY, -INFINITY, NAN});
  const auto b = tensor_of<TestType>({2, 1000, -INFINITY, 3, 5, 1});
  const double large = 1000 + std::log(2.);
  check_close(values_of(logaddexp(a, b)), {std::log(std::exp(1) + std::exp(2)), large, -INFINITY, INFINITY, 5, NAN});
  CHECK(error_of([&] { logaddexp(a, spread_tensor<TestType>({4})); }) ==
        "logaddexp: shapes do not broadcast: [6] and [4]");
}

TEMPLATE_TEST_CASE("xlogy", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({2, 0, 0, 0, 1}), y = tensor_of<TestType>({3, 0, INFINITY, NAN, 0});
  check_close(values_of(xlogy(x, y)), {2 * std::log(3), 0, 0, NAN, -INFINITY});
  check_close(values_of(x.clone().xlogy_(y)), values_of(xlogy(x, y)));
  CHECK(error_of([&] { xlogy(x, {}); }) == "xlogy: a tensor is undefined");
}

TEST_CASE("gradients of logaddexp and xlogy", "[ops][gradcheck]") {
  const auto a = spread_tensor<Cpu>({2, 3}, 0.5, 2).requires_grad_(),
             b = spread_tensor<Cpu>({3}, 1, 3).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{a, b}));
    CHECK(gradgradcheck(f, std::tuple{a, b}));
  };
  check([](const auto& x, const auto& y) { return logaddexp(x, y); });
  check([](const auto& x, const auto& y) { return xlogy(x, y); });
}

}  // namespace ops_exponential
