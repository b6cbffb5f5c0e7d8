// The Bernoulli distribution against values recorded from PyTorch 2.15, finite differences, and the moments of its
// samples.
#include "distributions/samples.hpp"
#include "tern/distributions/bernoulli.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_bernoulli {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Bernoulli has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto probs = tensor_of<D>({0, 0.3, 1});
  const Bernoulli p(probs), z = Bernoulli<D, double>({.logits = tensor_of<D>({-30, 0.3, 2})});
  check_close(values_of(p.mean()), {0, 0.3, 1});
  check_close(values_of(p.variance()), {0, 0.21, 0});
  check_close(values_of(p.entropy()), {0, 0.610864302054894, 2.22044604925032e-16});
  check_close(values_of(p.logits()), {-36.0436533891172, -0.847297860387204, 36.0436533891172});
  check_close(values_of(p.log_prob(tensor_of<D>({0, 1, 1}))), {0, -1.20397280432594, -2.22044604925032e-16});
  check_close(values_of(p.log_prob(tensor_of<D>({1, 0, 0}))),
              {-36.0436533891172, -0.356674943938732, -36.0436533891172});
  check_close(values_of(kl_divergence(p, Bernoulli(tensor_of<D>({0.25, 0.6, 0.9})))),
              {0.287682072451781, 0.183786897386812, 0.105360515657826});
  check_close(values_of(z.probs()), {9.3576229688393e-14, 0.574442516811659, 0.880797077977882}, 1e-12, 0);
  check_close(values_of(z.entropy()), {2.89901436190121e-12, 0.682022489425029, 0.365333855087208}, 1e-12, 0);
  check_close(values_of(z.log_prob(tensor_of<D>({0, 1, 0}))),
              {-9.2370555648813e-14, -0.554355244468527, -2.12692801104297});
  check_close(values_of(kl_divergence(z, Bernoulli(tensor_of<D>({0, 0.6, 1})))),
              {INFINITY, 0.00135184526816025, INFINITY});
  check_close(
      values_of(kl_divergence(Bernoulli(tensor_of<D>({0.5, 0.5, 0, 1})), Bernoulli(tensor_of<D>({0, 1, 0, 1})))),
      {INFINITY, INFINITY, 0, 0});
  CHECK(Bernoulli<D>(0.5).sample({2}).shape() == tern::detail::Shape{2});
}

TEMPLATE_TEST_CASE("Bernoulli's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto p = spread_tensor<D>({3}, 0.1, 0.9).requires_grad_(), z = spread_tensor<D>({2, 3}).requires_grad_();
  const auto x = tensor_of<D>({0, 1, 1});
  CHECK(gradcheck([x](auto v) { return Bernoulli(v).log_prob(x) + Bernoulli(v).entropy(); }, std::tuple{p}));
  CHECK(gradcheck(
      [x](auto v) {
        const auto b = Bernoulli<D, double>({.logits = v});
        return b.log_prob(x) + b.entropy() + b.variance();
      },
      std::tuple{z}));
  CHECK(gradcheck([](auto a, auto b) { return kl_divergence(Bernoulli(a), Bernoulli<D, double>({.logits = b})); },
                  std::tuple{p, z}));
  CHECK_FALSE(Bernoulli(p).sample().requires_grad());
}

TEMPLATE_TEST_CASE("Bernoulli's samples have its moments", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  const auto x = values_of(Bernoulli<TestType>({.logits = -1}).sample({many}));
  const double p = 0.268941421369995;
  check_moments(x, p, p * (1 - p));
  for (const double v : x) REQUIRE((v == 0 || v == 1));
}

TEST_CASE("Bernoulli refuses parameters and values that are none", "[distributions][refusal]") {
  const auto p = tensor<Cpu>({0.5, 1});
  const std::string one = "Bernoulli: one of probs and logits must be given, and not both";
  CHECK(error_of([&] { Bernoulli(2 * p); }) == "Bernoulli: probs must be in [0, 1], not 2");
  CHECK(error_of([&] { Bernoulli<Cpu>({.logits = NAN}); }) == "Bernoulli: logits must be a number, not nan");
  CHECK(error_of([&] { Bernoulli<Cpu>({.probs = p, .logits = p}); }) == one);
  CHECK(error_of([&] { Bernoulli(ProbsOrLogits<Cpu, float>{}); }) == one);
  CHECK(error_of([&] { Bernoulli(p).log_prob(p); }) == "Bernoulli.log_prob: the value must be 0 or 1, not 0.5");
  TERN_TEST_LINE(Bernoulli(2 * p));
}

}  // namespace distributions_bernoulli
