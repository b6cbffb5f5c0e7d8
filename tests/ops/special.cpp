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

double entr_oracle(double x) { return x < 0 ? -INFINITY : x == 0 ? 0 : -x * std::log(x); }

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  return {TERN_TEST_UNARY(erf, std::erf(v), -3, 3),
          TERN_TEST_UNARY(erfc, std::erfc(v), -3, 3),
          TERN_TEST_UNARY(erfinv, erfinv_oracle(v), -0.95, 0.95),
          TERN_TEST_UNARY(lgamma, std::lgamma(v), 0.2, 5),
          TERN_TEST_UNARY(digamma, digamma_oracle(v), 0.5, 5),
          {"ndtr",
           [](const auto& x) { return ndtr(x); },
           {},
           [](double v) { return std::erfc(-v / std::sqrt(2.)) / 2; },
           -3,
           3},
          {"log_ndtr",
           [](const auto& x) { return log_ndtr(x); },
           {},
           [](double v) { return std::log(std::erfc(-v / std::sqrt(2.)) / 2); },
           -8,
           3},
          {"entr", [](const auto& x) { return entr(x); }, {}, entr_oracle, 0.1, 5}};
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

// Values of ndtr and log_ndtr, and their gradients, computed with 40 digits; those of torch.special.entr. Far from 0
// PyTorch's own are less accurate: its ndtr(-10) is 0.
TEMPLATE_TEST_CASE("tails of the normal distribution are accurate, and entropy at its edges", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const auto& f, const std::vector<double>& at, const std::vector<double>& values,
                        const std::vector<double>& gradients) {
    const auto x = tensor_of<D>(at).requires_grad_();
    const auto y = f(x);
    y.sum().backward();
    check_close(values_of(y), values, 2e-13, 1e-300);
    check_close(values_of(x.grad()), gradients, 2e-13, 1e-300);
    std::vector<double> float_values = values, float_gradients = gradients;
    for (auto* each : {&float_values, &float_gradients})
      for (double& v : *each) v = std::fabs(v) < 1e-37 ? 0 : v;  // of float, these are 0 or denormal
    const auto narrow = tensor_of<D, float>(at).requires_grad_();
    const auto z = f(narrow);
    z.sum().backward();
    check_close(values_of(z), float_values, 1e-5, 1e-37);
    check_close(values_of(narrow.grad()), float_gradients, 1e-5, 1e-37);
  };
  check([](const auto& x) { return ndtr(x); }, {-30.0, -10.0, -2.0, 0.0, 1.5, 9.0},
        {4.9067139271481871e-198, 7.6198530241605261e-24, 0.022750131948179207, 0.5, 0.93319279873114193, 1},
        {1.473646134878464e-196, 7.694598626706365e-23, 0.05399096651318802, 0.3989422804014327, 0.12951759566589172,
         1.0279773571668841e-18});
  check([](const auto& x) { return log_ndtr(x); },
        {-1000.0, -40.0, -10.0, -6.5, -6.0, -5.0, -1.5, -1.0, -0.5, 0.0, 2.0, 6.0},
        {-500007.8266948122, -804.6084420137539, -53.23128515051248, -23.938149495161845, -20.73676894997471,
         -15.064998393988727, -2.7059444008238898, -1.841021645009264, -1.1759117615936185, -0.6931471805599453,
         -0.02301290932896348, -9.865876455243713e-10},
        {1000.000999998, 40.024968847207264, 10.098093233962512, 6.6473013611904907, 6.1584826045445989,
         5.1865039671258421, 1.9386771666225432, 1.5251352761609812, 1.1410777703680645, 0.79788456080286536,
         0.055247862678989959, 6.0758828558176764e-9});
  check([](const auto& x) { return entr(x); }, {0.0, 0.25, 1.0, 3.0, 10000000000.0},
        {0.0, 0.34657359027997264, -0.0, -3.295836866004329, -230258509299.40457},
        {INFINITY, 0.3862943611198906, -1.0, -2.09861228866811, -24.025850929940457});
}

}  // namespace ops_special
