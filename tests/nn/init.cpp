// How parameters start: the laws, by their bounds and moments.
#include "recorded_module.hpp"

#include <tern/nn/init.hpp>

namespace nn_init {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The values in units of a deviation.
std::vector<double> scaled(std::vector<double> values, double deviation) {
  for (double& v : values) v /= deviation;
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("xavier's and kaiming's laws have their bounds and deviations", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = empty<D, double>({40, 30, 3});  // 90 inputs and 120 outputs a unit
  check_uniform(values_of(nn::init::xavier_uniform_(x, 2)), -2 * std::sqrt(6. / 210), 2 * std::sqrt(6. / 210));
  check_normal(scaled(values_of(nn::init::xavier_normal_(x)), std::sqrt(2. / 210)));
  check_uniform(values_of(nn::init::kaiming_uniform_(x, {.a = std::sqrt(5.)})), -std::sqrt(1. / 90),
                std::sqrt(1. / 90));
  check_normal(
      scaled(values_of(nn::init::kaiming_normal_(x, {.mode = nn::init::FanMode::fan_out})), std::sqrt(2. / 120)));
  CHECK_THAT(error_of([] { nn::init::xavier_normal_(empty<D, double>({3})); }),
             ContainsSubstring("xavier_normal_: at least two dimensions are needed, not [3]"));
}

TEMPLATE_TEST_CASE("constants and the identity", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = empty<D, double>({2, 3});
  CHECK(values_of(nn::init::constant_(x, 2)) == std::vector<double>(6, 2));
  CHECK(values_of(nn::init::ones_(x)) == std::vector<double>(6, 1));
  CHECK(values_of(nn::init::zeros_(x)) == std::vector<double>(6, 0));
  CHECK(values_of(nn::init::eye_(x)) == std::vector<double>{1, 0, 0, 0, 1, 0});
}

TEMPLATE_TEST_CASE("truncated normal numbers lie between their bounds, in the normal's proportions", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = nn::init::trunc_normal_(empty<D>({100, 100}), 1, 2, 0, 3);
  double below = 0;
  for (const double v : values_of(x)) {
    REQUIRE(v >= 0);
    REQUIRE(v <= 3);
    below += v < 1;
  }
  // P(-0.5 < z < 0) of P(-0.5 < z < 1)
  CHECK(below / 10000 == Approx(0.191462 / 0.532807).margin(0.025));
  CHECK_THAT(error_of([&] { nn::init::trunc_normal_(x, 0, 1, 2, -2); }), ContainsSubstring("trunc_normal_"));
}

TEMPLATE_TEST_CASE("orthogonal rows or columns, whichever are fewer", "", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const tern::detail::Shape& shape :
       {tern::detail::Shape{5, 8}, tern::detail::Shape{8, 5}, tern::detail::Shape{4, 2, 3}}) {
    const auto x = nn::init::orthogonal_(empty<D, double>(shape), 3);
    const auto m = x.reshape({shape[0], -1});
    const auto product = m.size(0) <= m.size(1) ? mm(m, m.t()) : mm(m.t(), m);
    check_close(values_of(product), values_of(mul(eye<D, double>(product.size(0)), 9)), 1e-12, 1e-12);
  }
}

}  // namespace nn_init
