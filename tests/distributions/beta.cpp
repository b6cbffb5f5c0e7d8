// The beta distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/beta.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_beta {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Beta has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Beta p(tensor_of<D>({0.5, 1, 4}), tensor_of<D>({2, 0.7, 3}));
  check_close(values_of(p.mean()), {0.2, 0.588235294117647, 0.571428571428571});
  check_close(values_of(p.variance()), {0.0457142857142857, 0.0897090862488786, 0.0306122448979592});
  check_close(values_of(p.entropy()), {-0.765278955334776, -0.0718964846326961, -0.344344562222101});
  check_close(values_of(p.log_prob(tensor_of<D>({0.1, 0.5, 0.9}))),
              {0.758249958387415, -0.148730789770749, -0.82690717073947});
  check_close(values_of(kl_divergence(p, Beta(tensor_of<D>({1.5}), 2))),
              {1.05722875423257, 0.571593843109318, 0.280922055573115});
  CHECK(values_of(Beta<D>(1, 1).log_prob(tensor_of<D, float>({0, 1}))) == std::vector<double>{0, 0});
}

TEMPLATE_TEST_CASE("Beta's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({3}, 0.5, 3).requires_grad_(), b = spread_tensor<D>({3}, 0.5, 2).requires_grad_(),
             x = spread_tensor<D>({3}, 0.1, 0.9).requires_grad_();
  CHECK(gradcheck([](auto c, auto d, auto v) { return Beta(c, d).log_prob(v) + Beta(c, d).entropy(); },
                  std::tuple{a, b, x}));
  CHECK(gradcheck([](auto c, auto d, auto v) { return kl_divergence(Beta(c, d), Beta(v, c)); }, std::tuple{a, b, x}));
}

TEMPLATE_TEST_CASE("Beta's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_distribution(values_of(Beta<D>(2, 3).sample({many})), [](double x) { return x * x * (6 - 8 * x + 3 * x * x); });
  check_distribution(values_of(Beta<D>(0.5, 0.5).sample({many})),
                     [](double x) { return 2 / 3.14159265358979 * std::asin(std::sqrt(x)); });
  // Both gamma variables would underflow: half of the samples are near 0, half near 1.
  check_moments(values_of(Beta<D>(1e-4, 1e-4).sample({many})), 0.5, 0.25 / 1.0002);
}

TEST_CASE("Beta refuses parameters and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 0});
  CHECK(error_of([&] { Beta(x, 1); }) == "Beta: concentration1 must be positive, not 0");
  CHECK(error_of([&] { Beta(1, x); }) == "Beta: concentration0 must be positive, not 0");
  CHECK(error_of([&] { Beta<Cpu>(1, 1).log_prob(x - 1); }) == "Beta.log_prob: the value must be in [0, 1], not -1");
}

}  // namespace distributions_beta
