#include "recorded_module.hpp"

#include <tern/nn/dropout.hpp>

namespace nn_dropout {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Dropout zeroes with probability p and scales the rest, in training only", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_module("Dropout(0.5)", nn::Dropout<D>(0.5));
  manual_seed(1);
  nn::Dropout<D> net(0.2);
  const auto x = full<D>({10000}, 2);
  double zeros = 0;
  for (const double v : values_of(net(x))) {
    REQUIRE((v == 0 || v == 2.5));
    zeros += v == 0;
  }
  CHECK(std::fabs(zeros - 2000) < 5 * std::sqrt(1600.0));
  CHECK(values_of(net(x)) != values_of(net(x)));
  net.eval();
  CHECK(net(x).impl() == x.impl());
  CHECK(nn::Dropout<D>().p == 0.5);
  CHECK(net.to(f64).p == 0.2);
}

TEMPLATE_TEST_CASE("Dropout: the gradient goes where the values went", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  nn::Dropout<D, double> net(0.5);
  auto x = ones<D, double>({100});
  x.requires_grad_();
  const auto y = net(x);
  sum(y).backward();
  CHECK(values_of(x.grad()) == values_of(y));
  nn::Dropout<D, double> all(1);
  CHECK(values_of(all(x)) == std::vector<double>(100, 0));
}

TEMPLATE_TEST_CASE("Dropout refuses what is no probability", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { nn::Dropout<D>(1.5); }),
             ContainsSubstring("Dropout: the probability must be in [0, 1], not 1.5"));
  CHECK_THROWS_AS(nn::Dropout<D>(-0.1), Error);
  CHECK_THROWS_AS(nn::Dropout<D>(std::nan("")), Error);
}

}  // namespace nn_dropout
