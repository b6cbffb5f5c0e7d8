#include "support/unary.hpp"
#include "tern/ops/activations.hpp"

namespace ops_activations {
using namespace tern;
using namespace tern_test;

namespace {

double sigmoid_of(double v) { return 1 / (1 + std::exp(-v)); }
double normal_cdf(double v) { return 0.5 * std::erfc(-v / std::sqrt(2.)); }
double gelu_tanh_of(double v) {
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (v + 0.044715 * v * v * v)));
}
double selu_of(double v) {
  const double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
  return scale * (v > 0 ? v : alpha * std::expm1(v));
}
double clip(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

template <class D, class T>
std::vector<UnaryOp<D, T>> ops() {
  using X = Tensor<D, T>;
  return {
      TERN_TEST_UNARY(relu, v < 0 ? 0 : v, 0.1, 3),
      TERN_TEST_UNARY(silu, v * sigmoid_of(v), -4, 4),
      TERN_TEST_UNARY(mish, v * std::tanh(std::log1p(std::exp(v))), -4, 4),
      TERN_TEST_UNARY(softsign, v / (1 + std::fabs(v)), 0.1, 4),
      TERN_TEST_UNARY(tanhshrink, v - std::tanh(v), -3, 3),
      TERN_TEST_UNARY(logsigmoid, v < 0 ? v - std::log1p(std::exp(v)) : -std::log1p(std::exp(-v)), -4, 4),
      TERN_TEST_UNARY(relu6, clip(v, 0, 6), 0.1, 5.9),
      TERN_TEST_UNARY(hardsigmoid, clip(v + 3, 0, 6) / 6, -2.9, 2.9),
      TERN_TEST_UNARY(hardswish, v * clip(v + 3, 0, 6) / 6, -2.9, 2.9),
      TERN_TEST_UNARY(selu, selu_of(v), -3, -0.1),
      {"leaky_relu", [](const X& x) { return leaky_relu(x, 0.2); }, [](const X& x) { return leaky_relu_(x, 0.2); },
       [](double v) { return v > 0 ? v : 0.2 * v; }, -3, -0.1},
      {"elu", [](const X& x) { return elu(x, 1.5); }, [](const X& x) { return elu_(x, 1.5); },
       [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); }, -3, -0.1},
      {"celu", [](const X& x) { return celu(x, 1.5); }, [](const X& x) { return celu_(x, 1.5); },
       [](double v) { return v > 0 ? v : 1.5 * std::expm1(v / 1.5); }, -3, -0.1},
      {"hardtanh", [](const X& x) { return hardtanh(x, -0.5, 2); }, [](const X& x) { return hardtanh_(x, -0.5, 2); },
       [](double v) { return clip(v, -0.5, 2); }, -0.4, 1.9},
      {"threshold", [](const X& x) { return threshold(x, 0.5, -3); }, [](const X& x) { return threshold_(x, 0.5, -3); },
       [](double v) { return v <= 0.5 ? -3 : v; }, 0.6, 3},
      {"softplus",
       [](const X& x) { return softplus(x, 2, 3); },
       {},
       [](double v) { return 2 * v > 3 ? v : std::log1p(std::exp(2 * v)) / 2; },
       -3,
       1.4},
      {"softplus beyond its threshold",
       [](const X& x) { return softplus(x, 2, 3); },
       {},
       [](double v) { return 2 * v > 3 ? v : std::log1p(std::exp(2 * v)) / 2; },
       1.6,
       3},
      {"softshrink",
       [](const X& x) { return softshrink(x); },
       {},
       [](double v) { return v > 0.5    ? v - 0.5
                             : v < -0.5 ? v + 0.5
                                        : 0 * v; },
       0.6,
       3},
      {"hardshrink",
       [](const X& x) { return hardshrink(x, 0.3); },
       {},
       [](double v) { return std::fabs(v) <= 0.3 ? 0 : v; },
       -3,
       -0.4},
      {"gelu", [](const X& x) { return gelu(x); }, {}, [](double v) { return v * normal_cdf(v); }, -3, 3},
      {"gelu by tanh", [](const X& x) { return gelu(x, "tanh"); }, {}, &gelu_tanh_of, -3, 3},
  };
}

}  // namespace

TEMPLATE_TEST_CASE("activations", "[ops]", TERN_TEST_DEVICES) {
  for (const auto& op : ops<TestType, double>()) check_values(op, 1e-12);
  for (const auto& op : ops<TestType, float>()) check_values(op, 1e-5);
}

TEST_CASE("gradients of activations", "[ops][gradcheck]") {
  for (const auto& op : ops<Cpu, double>()) check_gradients(op);
}

TEMPLATE_TEST_CASE("relu passes NaN and no gradient at 0", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({-1, 0, 2, NAN}).requires_grad_();
  const auto y = relu(x);
  check_close(values_of(y), {0, 0, 2, NAN});
  y.backward(ones_like(y));
  check_close(values_of(x.grad()), {0, 0, 1, 1});
  const auto i = tensor_of<TestType, Index>({-3, 0, 3});
  check_close(values_of(relu(i)), {0, 0, 3});
}

TEMPLATE_TEST_CASE("activations of extreme values do not overflow", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType, float>({-1e4, -200, 200, 1e4});
  check_close(values_of(softplus(x)), {0, 0, 200, 1e4}, 1e-6);
  check_close(values_of(silu(x)), {0, 0, 200, 1e4}, 1e-6);
  check_close(values_of(mish(x)), {0, 0, 200, 1e4}, 1e-6);
  check_close(values_of(logsigmoid(x)), {-1e4, -200, 0, 0}, 1e-6);
  check_close(values_of(gelu(x)), {0, 0, 200, 1e4}, 1e-6);
  check_close(values_of(gelu(x, "tanh")), {0, 0, 200, 1e4}, 1e-6);
}

TEMPLATE_TEST_CASE("prelu", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({-1, 2, -3, 4, -5, 6, -7, 8}, {2, 2, 2});
  check_close(values_of(prelu(x, tensor_of<D>({0.5}))), {-0.5, 2, -1.5, 4, -2.5, 6, -3.5, 8});
  check_close(values_of(prelu(x, full<D, double>({}, 0.5))), {-0.5, 2, -1.5, 4, -2.5, 6, -3.5, 8});
  check_close(values_of(prelu(x, tensor_of<D>({0.5, 2}))), {-0.5, 2, -6, 4, -2.5, 6, -14, 8});
  CHECK(error_of([&] { prelu(x, spread_tensor<D>({3})); }) == "prelu: a weight of shape [3] for 2 channels");
  CHECK(error_of([&] { prelu(x, spread_tensor<D>({1, 2})); }) == "prelu: a weight of shape [1, 2] for 2 channels");
  CHECK(error_of([&] { prelu(spread_tensor<D>({2}), spread_tensor<D>({2})); }) ==
        "prelu: a weight of shape [2] for 1 channels");
}

TEMPLATE_TEST_CASE("glu", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  check_close(values_of(glu(x)), {sigmoid_of(3), 2 * sigmoid_of(4), 5 * sigmoid_of(7), 6 * sigmoid_of(8)});
  check_close(values_of(glu(x, 0)), {sigmoid_of(5), 2 * sigmoid_of(6), 3 * sigmoid_of(7), 4 * sigmoid_of(8)});
  CHECK(error_of([&] { glu(spread_tensor<D>({2, 3})); }) == "glu: the size of dimension -1 must be even: [2, 3]");
  CHECK(error_of([&] { glu(full<D, double>({}, 1)); }) == "glu: a 0-d tensor has no dimension to halve");
}

TEST_CASE("gradients of prelu and glu", "[ops][gradcheck]") {
  const auto x = spread_tensor<Cpu>({2, 4}).requires_grad_(), w = spread_tensor<Cpu>({4}, 0.1, 0.9).requires_grad_();
  const auto prelu_of = [](const auto& v, const auto& weight) { return prelu(v, weight); };
  CHECK(gradcheck(prelu_of, std::tuple{x, w}));
  CHECK(gradgradcheck(prelu_of, std::tuple{x, w}));
  const auto glu_of = [](const auto& v) { return glu(v); };
  CHECK(gradcheck(glu_of, std::tuple{x}));
  CHECK(gradgradcheck(glu_of, std::tuple{x}));
}

TEMPLATE_TEST_CASE("activations refuse", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({3});
  CHECK(error_of([&] { hardtanh(x, 0.5, -0.5); }) == "hardtanh: min_val 0.5 is above max_val -0.5");
  CHECK(error_of([&] { celu(x, 0); }) == "celu: alpha must not be 0");
  CHECK(error_of([&] { softshrink(x, -1); }) == "softshrink: lambda must not be negative, but it is -1");
  CHECK(error_of([&] { gelu(x, "erf"); }) == "gelu: approximate is \"none\" or \"tanh\", not \"erf\"");
}

}  // namespace ops_activations
