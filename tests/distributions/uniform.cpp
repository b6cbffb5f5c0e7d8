// The uniform distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/uniform.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_uniform {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Uniform has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Uniform p(tensor_of<D>({-1, 0, 2}), 3);
  const auto x = tensor_of<D>({-1, 1, 3});
  check_close(values_of(p.mean()), {1, 1.5, 2.5});
  check_close(values_of(p.variance()), {1.33333333333333, 0.75, 0.0833333333333333});
  check_close(values_of(p.stddev()), {1.15470053837925, 0.866025403784439, 0.288675134594813});
  check_close(values_of(p.entropy()), {1.38629436111989, 1.09861228866811, 0});
  check_close(values_of(p.log_prob(x)), {-1.38629436111989, -1.09861228866811, -INFINITY});
  check_close(values_of(p.cdf(x)), {0, 0.333333333333333, 1});
  check_close(values_of(p.icdf(tensor_of<D>({0.1, 0.5, 0.975}))), {-0.6, 1.5, 2.975});
  check_close(values_of(kl_divergence(p, Uniform(-1, tensor_of<D>({4, 3.5, 2.5})))),
              {0.22314355131421, 0.405465108108164, INFINITY});
  check_close(values_of(kl_divergence(p, Uniform(tensor_of<D>({0}), 3))), {INFINITY, 0, 1.09861228866811});
}

TEMPLATE_TEST_CASE("Uniform's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto low = spread_tensor<D>({3}, -2, -1).requires_grad_(), high = spread_tensor<D>({3}, 1, 2).requires_grad_(),
             x = spread_tensor<D>({3}, -0.5, 0.5).requires_grad_();
  CHECK(gradcheck([](auto l, auto h, auto v) { return Uniform(l, h).log_prob(v); }, std::tuple{low, high, x}));
  CHECK(gradcheck([](auto l, auto h, auto v) { return Uniform(l, h).cdf(v); }, std::tuple{low, high, x}));
  CHECK(gradcheck([](auto l, auto h) { return kl_divergence(Uniform(l, h), Uniform(l - 1, h * h + 1)); },
                  std::tuple{low, high}));
  CHECK(gradcheck(
      [](auto l, auto h) {
        manual_seed(1);
        return Uniform(l, h).rsample({2});
      },
      std::tuple{low, high}));
}

TEMPLATE_TEST_CASE("Uniform's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  check_distribution(values_of(Uniform<TestType>(-1, 3).sample({many})), [](double x) { return (x + 1) / 4; });
}

TEST_CASE("Uniform refuses bounds and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 2});
  CHECK(error_of([&] { Uniform(x, 2); }) == "Uniform: high - low must be positive, not 0");
  CHECK(error_of([&] { Uniform(x, 3).log_prob(2 * x); }) ==
        "Uniform.log_prob: high - the value must be 0 or more, not -1");
  CHECK(error_of([&] { Uniform(x, 3).cdf(x - 2); }) == "Uniform.cdf: the value - low must be 0 or more, not -2");
}

}  // namespace distributions_uniform
