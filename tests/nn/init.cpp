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
  check_uniform(values_of(nn::init::kaiming_uniform_(x, {.a = std::sqrt(5.), .mode = "fan_in"})), -std::sqrt(1. / 90),
                std::sqrt(1. / 90));
  check_normal(scaled(values_of(nn::init::kaiming_normal_(x, {.mode = "fan_out"})), std::sqrt(2. / 120)));
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

TEMPLATE_TEST_CASE("dirac's convolution copies channels", "", TERN_TEST_DEVICES) {
  using D = TestType;
  // PyTorch 2.15: nn.init.dirac_(w, groups).nonzero()
  const auto ones_of = [](const tern::detail::Shape& shape, Index groups) {
    const auto w = nn::init::dirac_(full<D, double>(shape, 7), groups);
    CHECK(values_of(w.sum()) == values_of((w == 1).sum().to(f64)));
    return values_of((w.cpu() == 1).nonzero());
  };
  CHECK(ones_of({4, 2, 3}, 1) == std::vector<double>{0, 0, 1, 1, 1, 1});
  CHECK(ones_of({4, 2, 3, 2}, 2) == std::vector<double>{0, 0, 1, 1, 1, 1, 1, 1, 2, 0, 1, 1, 3, 1, 1, 1});
  CHECK(ones_of({2, 4, 3, 3}, 1) == std::vector<double>{0, 0, 1, 1, 1, 1, 1, 1});
  CHECK(ones_of({6, 2, 2, 3, 1}, 3) ==
        std::vector<double>{0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 2, 0, 1, 1, 0, 3, 1, 1, 1, 0, 4, 0, 1, 1, 0, 5, 1, 1, 1, 0});
  CHECK(error_of([] { nn::init::dirac_(empty<D>({3, 2})); }) == "dirac_: 3, 4 or 5 dimensions are needed, not [3, 2]");
  CHECK(error_of([] { nn::init::dirac_(empty<D>({3, 2, 1}), 2); }) ==
        "dirac_: 3 channels cannot be divided into 2 groups");
}

TEMPLATE_TEST_CASE("a sparse matrix has as many zeros in each column", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = nn::init::sparse_(empty<D, double>({50, 400}), 0.31, 2);
  const auto is_zero = (x == 0).to(i64);
  CHECK(values_of(is_zero.sum(0)) == std::vector<double>(400, 16));  // 15.5, rounded up
  const std::vector<double> of_rows = values_of(is_zero.sum(1));
  CHECK(*std::min_element(of_rows.begin(), of_rows.end()) > 60);  // of 400, 128 are expected
  std::vector<double> others = values_of(x);
  std::erase(others, 0);
  check_normal(scaled(others, 2));
  CHECK(error_of([] { nn::init::sparse_(empty<D>({3}), 0.5); }) == "sparse_: a matrix is needed, not [3]");
  CHECK(error_of([] { nn::init::sparse_(empty<D>({3, 2}), 1.5); }) == "sparse_: sparsity must be in [0, 1], not 1.5");
}

TEMPLATE_TEST_CASE("gains are PyTorch's", "", TERN_TEST_DEVICES) {
  using D = TestType;
  using nn::init::calculate_gain;
  CHECK((calculate_gain("linear") == 1 && calculate_gain("conv_transpose2d") == 1 && calculate_gain("sigmoid") == 1));
  CHECK(calculate_gain("tanh") == 5. / 3);
  CHECK(calculate_gain("relu") == Approx(1.4142135623730951));
  CHECK(calculate_gain("leaky_relu") == Approx(1.4141428569978354));
  CHECK(calculate_gain("leaky_relu", 0.2) == Approx(1.3867504905630728));
  CHECK(calculate_gain("selu") == 0.75);
  CHECK(error_of([] { calculate_gain("gelu"); }) == "calculate_gain: no gain is known of \"gelu\"");
  const auto x = empty<D, double>({40, 30, 3});
  check_normal(scaled(values_of(nn::init::kaiming_normal_(x, {.nonlinearity = "tanh"})), 5. / 3 / std::sqrt(90.)));
  check_normal(scaled(values_of(nn::init::kaiming_normal_(x, {.a = 2, .nonlinearity = "relu"})), std::sqrt(2. / 90)));
}

TEMPLATE_TEST_CASE("an Error of an initialisation ends with the user's line", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = empty<D>({3});
  TERN_TEST_LINE(nn::init::zeros_(Tensor<D>()));
  TERN_TEST_LINE(nn::init::uniform_(x, 2, 1));
  TERN_TEST_LINE(nn::init::normal_(x, 0, -1));
  TERN_TEST_LINE(nn::init::eye_(x));
  TERN_TEST_LINE(nn::init::dirac_(x));
  TERN_TEST_LINE(nn::init::sparse_(x, 0.5));
  TERN_TEST_LINE(nn::init::trunc_normal_(x, 0, 1, 2, -2));
  TERN_TEST_LINE(nn::init::xavier_uniform_(x));
  TERN_TEST_LINE(nn::init::xavier_normal_(x));
  TERN_TEST_LINE(nn::init::kaiming_uniform_(x));
  TERN_TEST_LINE(nn::init::kaiming_normal_(empty<D>({3, 2}), {.nonlinearity = "gelu"}));
  TERN_TEST_LINE(nn::init::orthogonal_(x));
  TERN_TEST_LINE(nn::init::calculate_gain("gelu"));
}

TEMPLATE_TEST_CASE("kaiming takes PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = empty<D>({6, 4});
  const auto drawn = [&](const auto& f) {
    manual_seed(1);
    return values_of(f());
  };
  using nn::init::FanMode;
  const nn::init::KaimingOptions options{.a = 3, .mode = FanMode::fan_out, .nonlinearity = "leaky_relu"};
  CHECK(drawn([&] { return nn::init::kaiming_uniform_(x, 3, FanMode::fan_out, "leaky_relu"); }) ==
        drawn([&] { return nn::init::kaiming_uniform_(x, options); }));
  CHECK(drawn([&] { return nn::init::kaiming_normal_(x, 3, FanMode::fan_out); }) ==
        drawn([&] { return nn::init::kaiming_normal_(x, options); }));
  CHECK(drawn([&] { return nn::init::kaiming_uniform_(x, std::sqrt(5)); }) ==
        drawn([&] { return nn::init::kaiming_uniform_(x, {.a = std::sqrt(5)}); }));
  TERN_TEST_LINE(nn::init::kaiming_uniform_(x, 0, FanMode::fan_in, "gelu"));
  TERN_TEST_LINE(nn::init::kaiming_normal_(x, 0, FanMode::fan_in, "gelu"));
}

TEMPLATE_TEST_CASE("initialisations take their numbers by name", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto drawn = [](const auto& f) {
    manual_seed(5);
    const auto x = zeros<D>({3, 4});
    f(x);
    return values_of(x);
  };
  const auto same = [&](const auto& by_name, const auto& by_position) { CHECK(drawn(by_name) == drawn(by_position)); };
  using namespace nn::init;
  same([](auto& x) { uniform_(x, {.a = -2}); }, [](auto& x) { uniform_(x, -2, 1); });
  same([](auto& x) { normal_(x, {.mean = 1, .std = 0.02}); }, [](auto& x) { normal_(x, 1, 0.02); });
  same([](auto& x) { trunc_normal_(x, {.std = 2}); }, [](auto& x) { trunc_normal_(x, 0, 2, -2, 2); });
  same([](auto& x) { trunc_normal_(x, {.a = -0.5, .b = 0}); }, [](auto& x) { trunc_normal_(x, 0, 1, -0.5, 0); });
  same([](auto& x) { xavier_uniform_(x, {.gain = 3}); }, [](auto& x) { xavier_uniform_(x, 3); });
  same([](auto& x) { xavier_normal_(x, {.gain = 3}); }, [](auto& x) { xavier_normal_(x, 3); });
  same([](auto& x) { orthogonal_(x, {.gain = 3}); }, [](auto& x) { orthogonal_(x, 3); });
}

}  // namespace nn_init
