#include "support/recorded.hpp"

#include <tern/autograd/backward.hpp>
#include <tern/nn/activation.hpp>

namespace nn_activation {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("activation modules are the functions of their names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({5, 7}, -8, 8);
  const auto check = [&](auto module, auto function) {
    INFO(module.type_name());
    CHECK(module.state_dict().empty());
    const std::vector<double> y = values_of(module(x));
    const std::vector<double> inputs = values_of(x);
    std::vector<double> expected;
    for (const double v : inputs) expected.push_back(function(v));
    check_close(y, expected, 1e-9, 1e-9);
    check_close(values_of(module.to(f32)(x.to(f32))), expected, 1e-4, 1e-5);
  };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  check(nn::ReLU<D, double>(), [](double v) { return std::fmax(v, 0); });
  check(nn::ReLU6<D, double>(), [](double v) { return std::fmin(std::fmax(v, 0), 6); });
  check(nn::GELU<D, double>(), [](double v) { return v * std::erfc(-v * std::sqrt(0.5)) / 2; });
  check(nn::SiLU<D, double>(), [&](double v) { return v * sigmoid(v); });
  check(nn::Mish<D, double>(), [&](double v) { return v * std::tanh(softplus(v)); });
  check(nn::ELU<D, double>(), [](double v) { return v > 0 ? v : std::expm1(v); });
  check(nn::SELU<D, double>(), [](double v) {
    return 1.0507009873554804934193349852946 * (v > 0 ? v : 1.6732632423543772848170429916717 * std::expm1(v));
  });
  check(nn::LeakyReLU<D, double>(), [](double v) { return v > 0 ? v : 0.01 * v; });
  check(nn::Softplus<D, double>(), softplus);
  check(nn::Hardtanh<D, double>(), [](double v) { return std::fmin(std::fmax(v, -1), 1); });
  check(nn::Hardswish<D, double>(), [](double v) { return v * std::fmin(std::fmax(v + 3, 0), 6) / 6; });
  check(nn::Tanh<D, double>(), [](double v) { return std::tanh(v); });
  check(nn::Sigmoid<D, double>(), sigmoid);
}

TEMPLATE_TEST_CASE("activation modules write their argument on request", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto module, auto in_place) {
    const auto x = tensor_of<D>({-4, -0.5, 0, 0.5, 7}), y = x.clone();
    CHECK(in_place(y).impl() == y.impl());
    CHECK(values_of(y) == values_of(module(x)));
    CHECK(values_of(y) != values_of(x));
    auto leaf = x.clone().requires_grad_(), other = x.clone().requires_grad_();
    in_place(leaf * 1).sum().backward();
    module(other).sum().backward();
    CHECK(values_of(leaf.grad()) == values_of(other.grad()));
  };
  check(nn::ReLU<D, double>(), nn::ReLU<D, double>(true));
  check(nn::ReLU6<D, double>(), nn::ReLU6<D, double>(true));
  check(nn::SiLU<D, double>(), nn::SiLU<D, double>(true));
  check(nn::Mish<D, double>(), nn::Mish<D, double>(true));
  check(nn::SELU<D, double>(), nn::SELU<D, double>(true));
  check(nn::Hardswish<D, double>(), nn::Hardswish<D, double>(true));
  check(nn::Hardsigmoid<D, double>(), nn::Hardsigmoid<D, double>(true));
  check(nn::ELU<D, double>(1.5), nn::ELU<D, double>(1.5, true));
  check(nn::CELU<D, double>(1.5), nn::CELU<D, double>(1.5, true));
  check(nn::LeakyReLU<D, double>(0.2), nn::LeakyReLU<D, double>(0.2, true));
}

TEMPLATE_TEST_CASE("Softmax2d works over the channels of images", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 5});
  nn::Softmax2d<D, double> over_channels;
  CHECK(values_of(over_channels(x)) == values_of(softmax(x, 1)));
  CHECK(values_of(over_channels(x[1])) == values_of(softmax(x[1], 0)));
  CHECK_THAT(error_of([&] { over_channels(x[0][0]); }),
             ContainsSubstring("Softmax2d: images [N, C, H, W] or [C, H, W] are needed, not [4, 5]"));
}

TEMPLATE_TEST_CASE("Softmax and LogSoftmax work over their dimension, Flatten over a range", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 1, 2, 5, 3, 3}, {3, 2});
  std::vector<double> expected, logs;
  const std::vector<double> v = values_of(x);
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t column = i % 2;
    const double total = std::exp(v[column]) + std::exp(v[column + 2]) + std::exp(v[column + 4]);
    expected.push_back(std::exp(v[i]) / total);
    logs.push_back(v[i] - std::log(total));
  }
  nn::Softmax<D, double> over_rows(0);
  nn::LogSoftmax<D, double> logs_over_rows(0);
  check_close(values_of(over_rows(x)), expected);
  check_close(values_of(logs_over_rows(x)), logs);
  CHECK(over_rows.to(f32).dim == 0);

  nn::Flatten<D> flat, last(2), first(0, 1);
  const auto block = zeros<D>({2, 3, 4, 5});
  CHECK(flat(block).shape() == tern::detail::Shape{2, 60});
  CHECK(last(block).shape() == tern::detail::Shape{2, 3, 20});
  CHECK(first(block).shape() == tern::detail::Shape{6, 4, 5});
  CHECK(first.clone().end_dim == 1);
}

TEMPLATE_TEST_CASE("PReLU and GLU", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::PReLU<D, double> one, each({.num_parameters = 2, .init = 0.5});
  const auto x = tensor_of<D>({-4, 8, 4, -8}, {2, 2});
  CHECK(values_of(one(x)) == std::vector<double>{-1, 8, 4, -2});
  CHECK(values_of(each(x)) == std::vector<double>{-2, 8, 4, -4});
  CHECK(each.parameters().size() == 1);
  CHECK(values_of(nn::PReLU<D, double>(2, 0.5)(x)) == values_of(each(x)));
  CHECK(values_of(nn::PReLU<D, double>(2).weight) == std::vector<double>{0.25, 0.25});
  CHECK(values_of(nn::GLU<D, double>(1)(x)) == values_of(glu(x, 1)));
}

TEMPLATE_TEST_CASE("activation modules take PyTorch's options", "", TERN_TEST_DEVICES) {
  using D = TestType;
  int seen = 0;
  const Json all = recorded_cases("activation_modules");
  const auto check = [&](const std::string& name, auto module, double tolerance = 1e-9) {
    INFO(name);
    for (const Json& recorded : all) {
      if (recorded["module"] != name) continue;
      ++seen;
      std::vector<double> values, incoming;
      for (int i = 0; i < 8; ++i) values.push_back(3 * std::sin(1.7 * i)), incoming.push_back(std::cos(i));
      const auto copy = module.clone();  // which keeps the options
      auto x = tensor_of<D>(values, {4, 2});
      x.requires_grad_();
      const auto y = copy(x);
      incoming.resize(std::size_t(y.numel()));
      y.backward(tensor_of<D>(incoming, y.shape()));
      check_close(values_of(y), numbers_of(recorded["output"]), 1e-9, 1e-12);
      check_close(values_of(x.grad()), numbers_of(recorded["gradient"]), tolerance, 1e-12);
      return;
    }
    FAIL("no such recorded module");
  };
  check("LeakyReLU(negative_slope=0.2)", nn::LeakyReLU<D, double>(0.2));
  check("ELU(alpha=0.5)", nn::ELU<D, double>(0.5));
  check("CELU(alpha=0.5)", nn::CELU<D, double>(0.5));
  check("GELU(approximate='none')", nn::GELU<D, double>());
  check("GELU(approximate='tanh')", nn::GELU<D, double>(std::string("tanh").c_str()));
  check("Softplus(beta=2.0, threshold=3.0)", nn::Softplus<D, double>(2, 3));
  check("Hardtanh(min_val=-0.5, max_val=2.0)", nn::Hardtanh<D, double>(-0.5, 2));
  check("Threshold(threshold=0.1, value=20.0)", nn::Threshold<D, double>(0.1, 20));
  check("Hardshrink(0.7)", nn::Hardshrink<D, double>(0.7));
  check("Softshrink(0.7)", nn::Softshrink<D, double>(0.7));
  check("Softmin(dim=0)", nn::Softmin<D, double>(0));
  check("Softmax(dim=0)", nn::Softmax<D, double>(0));
  check("LogSoftmax(dim=1)", nn::LogSoftmax<D, double>(1));
  check("PReLU(num_parameters=2)", nn::PReLU<D, double>({.num_parameters = 2, .init = 0.5}));
  check("GLU(dim=0)", nn::GLU<D, double>(0));
  check("Hardsigmoid()", nn::Hardsigmoid<D, double>(), 1e-7);  // whose slope is 1/6 in float there, in double here
  check("LogSigmoid()", nn::LogSigmoid<D, double>());
  check("Softsign()", nn::Softsign<D, double>());
  check("Tanhshrink()", nn::Tanhshrink<D, double>());
  check("Identity()", nn::Identity<D, double>());
  CHECK(seen == int(all.size()));

  CHECK(values_of(nn::Identity<D>()(tensor_of<D, Index>({1, 2}))) == std::vector<double>{1, 2});
  CHECK_THAT(error_of([] { nn::GELU<D>("sigmoid"); }),
             ContainsSubstring("GELU: approximate is \"none\" or \"tanh\", not \"sigmoid\""));
  CHECK_THAT(error_of([] { nn::Hardtanh<D>(1, 1); }),
             ContainsSubstring("Hardtanh: min_val 1 must be less than max_val 1"));
}

TEMPLATE_TEST_CASE("RReLU draws slopes in training alone", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({-2, -1, 3});
  nn::RReLU<D, double> module(0.1, 0.3);
  manual_seed(1);
  const auto y = module(x);
  manual_seed(1);
  CHECK(values_of(y) == values_of(rrelu(x, 0.1, 0.3, true)));
  check_close(values_of(module.eval()(x)), {-0.4, -0.2, 3});
  check_close(values_of(nn::RReLU<D, double>().eval()(x)), {-11. / 24, -11. / 48, 3});
  CHECK_THAT(error_of([] { nn::RReLU<D>(0.4, 0.3); }), ContainsSubstring("RReLU: lower 0.4 is above upper 0.3"));
}

TEMPLATE_TEST_CASE("Unflatten undoes Flatten", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4});
  const nn::Unflatten<D, double> unflatten(1, {3, -1});
  CHECK(unflatten(nn::Flatten<D, double>()(x)).shape() == x.shape());
  CHECK(values_of(unflatten.clone()(nn::Flatten<D, double>()(x))) == values_of(x));
}

}  // namespace nn_activation
