// The exponential distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its
// samples.
#include "distributions/samples.hpp"
#include "tern/distributions/exponential.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_exponential {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Exponential has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Exponential p(tensor_of<D>({0.5, 1, 3}));
  const auto x = tensor_of<D>({0, 1, 4});
  check_close(values_of(p.mean()), {2, 1, 0.333333333333333});
  check_close(values_of(p.variance()), {4, 1, 0.111111111111111});
  check_close(values_of(p.entropy()), {1.69314718055995, 1, -0.0986122886681098});
  check_close(values_of(p.log_prob(x)), {-0.693147180559945, -1, -10.9013877113319});
  check_close(values_of(p.cdf(x)), {0, 0.632120558828558, 0.999993855787647});
  check_close(values_of(p.icdf(tensor_of<D>({0.1, 0.5, 0.975}))),
              {0.210721031315653, 0.693147180559945, 1.22962648470465});
  check_close(values_of(kl_divergence(p, Exponential<D, double>(2))),
              {1.61370563888011, 0.306852819440055, 0.0721317747748311});
}

TEMPLATE_TEST_CASE("Exponential's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto rate = spread_tensor<D>({3}, 0.5, 2).requires_grad_(), x = spread_tensor<D>({3}, 0, 2).requires_grad_();
  CHECK(gradcheck([](auto r, auto v) { return Exponential(r).log_prob(v) + Exponential(r).cdf(v); },
                  std::tuple{rate, x}));
  CHECK(gradcheck([](auto r, auto v) { return kl_divergence(Exponential(r), Exponential(exp(v))); },
                  std::tuple{rate, x}));
  CHECK(gradcheck([](auto r) { return Exponential(r).entropy(); }, std::tuple{rate}));
  CHECK(gradcheck(
      [](auto r) {
        manual_seed(1);
        return Exponential(r).rsample({2});
      },
      std::tuple{rate}));
}

TEMPLATE_TEST_CASE("Exponential's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  check_distribution(values_of(Exponential<TestType>(2).sample({many})), [](double x) { return -std::expm1(-2 * x); });
}

TEST_CASE("Exponential refuses rates and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 2});
  CHECK(error_of([&] { Exponential<Cpu>(0); }) == "Exponential: rate must be positive, not 0");
  CHECK(error_of([&] { Exponential(x).log_prob(-x); }) == "Exponential.log_prob: the value must be 0 or more, not -1");
}

}  // namespace distributions_exponential
