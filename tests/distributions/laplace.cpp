// The Laplace distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/laplace.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_laplace {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Laplace has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Laplace p(tensor_of<D>({-1, 0.5, 2}), tensor_of<D>({0.5, 1, 3}));
  const auto x = tensor_of<D>({-1.5, 0.5, 4});
  check_close(values_of(p.variance()), {0.5, 2, 18});
  check_close(values_of(p.stddev()), {0.707106781186548, 1.4142135623731, 4.24264068711929});
  check_close(values_of(p.entropy()), {1, 1.69314718055995, 2.79175946922805});
  check_close(values_of(p.log_prob(x)), {-1, -0.693147180559945, -2.45842613589472});
  check_close(values_of(p.cdf(x)), {0.183939720585721, 0.5, 0.743291440483704});
  check_close(values_of(p.icdf(tensor_of<D>({0.1, 0.5, 0.975}))), {-1.80471895621705, 0.5, 10.987196820662});
  check_close(values_of(kl_divergence(p, Laplace(0.5, tensor_of<D>({2})))),
              {1.14874112821186, 0.193147180559945, 0.254330881460786});
}

TEMPLATE_TEST_CASE("Laplace's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto loc = spread_tensor<D>({3}).requires_grad_(), scale = spread_tensor<D>({3}, 0.5, 2).requires_grad_(),
             x = spread_tensor<D>({2, 3}).requires_grad_();
  CHECK(gradcheck([](auto l, auto s, auto v) { return Laplace(l, s).log_prob(v + 0.1) + Laplace(l, s).cdf(v + 0.1); },
                  std::tuple{loc, scale, x}));
  CHECK(gradcheck([](auto l, auto s, auto v) { return kl_divergence(Laplace(l, s), Laplace(v + 0.1, exp(v))); },
                  std::tuple{loc, scale, x}));
  CHECK(gradcheck(
      [](auto l, auto s) {
        manual_seed(1);
        return Laplace(l, s).rsample({2});
      },
      std::tuple{loc, scale}));
}

TEMPLATE_TEST_CASE("Laplace's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  check_distribution(values_of(Laplace<TestType>(1, 2).sample({many})),
                     [](double x) { return x < 1 ? 0.5 * std::exp((x - 1) / 2) : 1 - 0.5 * std::exp((1 - x) / 2); });
}

TEST_CASE("Laplace refuses parameters that are none", "[distributions][refusal]") {
  CHECK(error_of([&] { Laplace(ones<Cpu>({2}), 0); }) == "Laplace: scale must be positive, not 0");
  CHECK(error_of([&] { Laplace<Cpu>(NAN, 1); }) == "Laplace: loc must be a number, not nan");
}

}  // namespace distributions_laplace
