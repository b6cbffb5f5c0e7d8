#include "support/unary.hpp"
#include "tern/ops/special.hpp"

namespace ops_special {
using namespace tern;
using namespace tern_test;

namespace {

/// The root of erf(y) = x by bisection.
double erfinv_oracle(double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  double low = -7, high = 7;
  for (int i = 0; i < 200; ++i) (std::erf((low + high) / 2) < x ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

/// d/dx log gamma by differences of long doubles; the poles as PyTorch has them.
double digamma_oracle(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (std::isinf(x)) return x > 0 ? INFINITY : NAN;
  if (x < 0 && x == std::floor(x)) return NAN;
  const long double h = 1e-5L;
  const auto f = [&](int k) { return std::lgamma(static_cast<long double>(x) + k * h); };
  return double((8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h));
}

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  return {TERN_TEST_UNARY(erf, std::erf(v), -3, 3), TERN_TEST_UNARY(erfc, std::erfc(v), -3, 3),
          TERN_TEST_UNARY(erfinv, erfinv_oracle(v), -0.95, 0.95), TERN_TEST_UNARY(lgamma, std::lgamma(v), 0.2, 5),
          TERN_TEST_UNARY(digamma, digamma_oracle(v), 0.5, 5)};
}

}  // namespace

TEMPLATE_TEST_CASE("the error function and the gamma family", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-10);
  for (const auto& op : ops<TestType, float>()) check_values(op, 2e-5);
}

TEST_CASE("gradients of the error function and the gamma family", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
  const auto x = spread_tensor<Cpu>({4}, 0.5, 3).requires_grad_();
  for (int n : {0, 1, 2}) {
    const auto f = [n](const auto& v) { return polygamma(n, v); };
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  }
}

TEMPLATE_TEST_CASE("polygamma", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, 0.5, 2});
  const double pi = std::acos(-1.), zeta3 = 1.2020569031595942854;
  check_close(values_of(polygamma(1, x)), {pi * pi / 6, pi * pi / 2, pi * pi / 6 - 1}, 1e-12);
  check_close(values_of(polygamma(2, x)), {-2 * zeta3, -14 * zeta3, -2 * zeta3 + 2}, 1e-12);
  check_close(values_of(polygamma(0, x)), values_of(digamma(x)));
  CHECK(error_of([&] { polygamma(-1, x); }) == "polygamma: the order must not be negative, but it is -1");
}

}  // namespace ops_special
