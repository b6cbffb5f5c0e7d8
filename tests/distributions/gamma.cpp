// The gamma distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/gamma.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_gamma {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Gamma has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Gamma p(tensor_of<D>({0.5, 1, 4}), tensor_of<D>({2, 0.7, 3}));
  check_close(values_of(p.mean()), {0.25, 1.42857142857143, 1.33333333333333});
  check_close(values_of(p.variance()), {0.125, 2.04081632653061, 0.444444444444444});
  check_close(values_of(p.entropy()), {-0.602537250645957, 1.35667494393873, 0.924794175264545});
  check_close(values_of(p.log_prob(tensor_of<D>({0.1, 1, 4}))),
              {0.725501193852295, -1.05667494393873, -5.23842723119594});
  check_close(values_of(kl_divergence(p, Gamma(tensor_of<D>({1.5}), 2))),
              {1.27036284546148, 0.450235265210362, 0.502616793045114});
}

TEMPLATE_TEST_CASE("Gamma's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({3}, 0.5, 3).requires_grad_(), rate = spread_tensor<D>({3}, 0.5, 2).requires_grad_(),
             x = spread_tensor<D>({3}, 0.1, 2).requires_grad_();
  CHECK(gradcheck([](auto c, auto r, auto v) { return Gamma(c, r).log_prob(v) + Gamma(c, r).entropy(); },
                  std::tuple{a, rate, x}));
  CHECK(gradcheck([](auto c, auto r, auto v) { return kl_divergence(Gamma(c, r), Gamma(v, c)); },
                  std::tuple{a, rate, x}));
}

TEMPLATE_TEST_CASE("Gamma's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_distribution(values_of(Gamma<D>(0.5, 2).sample({many})), [](double x) { return std::erf(std::sqrt(2 * x)); });
  check_distribution(values_of(Gamma<D>(1, 3).sample({many})), [](double x) { return -std::expm1(-3 * x); });
  check_distribution(values_of(Gamma<D, double>(3, 1).sample({many})),
                     [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); });
  check_moments(values_of(Gamma<D>(100, 10).sample({many})), 10, 1);
  // Samples that would underflow.
  for (const double x : values_of(Gamma<D>(0.001, 1).sample({100}))) CHECK(x > 0);
  CHECK(Gamma(ones<D>({3}).to(f16), 1).sample({2}).shape() == tern::detail::Shape{2, 3});
  manual_seed(2);
  const auto whole = values_of(Gamma<D>(2, 1).sample({10}));
  manual_seed(2);
  CHECK(values_of(Gamma<D>(2, 1).sample({10})) == whole);
}

TEST_CASE("Gamma refuses parameters and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 0});
  CHECK(error_of([&] { Gamma(x, 1); }) == "Gamma: concentration must be positive, not 0");
  CHECK(error_of([&] { Gamma(1, x); }) == "Gamma: rate must be positive, not 0");
  CHECK(error_of([&] { Gamma<Cpu>(1, 1).log_prob(-x); }) == "Gamma.log_prob: the value must be 0 or more, not -1");
}

}  // namespace distributions_gamma
