// The log-normal distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its
// samples.
#include "distributions/samples.hpp"
#include "tern/distributions/log_normal.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_log_normal {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("LogNormal has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const LogNormal p(tensor_of<D>({-1, 0.5, 2}), tensor_of<D>({0.5, 1, 3}));
  const auto x = tensor_of<D>({0.1, 1, 4});
  check_close(values_of(p.mean()), {0.416862019678508, 2.71828182845905, 665.141633044362});
  check_close(values_of(p.variance()), {0.0493562166979847, 12.696480824257, 3584470432.73958});
  check_close(values_of(p.stddev()), {0.222162590680755, 3.56321214976838, 59870.4470731561});
  check_close(values_of(p.entropy()), {-0.274208647355273, 1.91893853320467, 4.51755082187278});
  check_close(values_of(p.log_prob(x)), {-1.31666210863129, -1.04393853320467, -3.42476932805896});
  check_close(values_of(p.cdf(x)), {0.00459143175746995, 0.308537538725987, 0.418954616041762});
  CHECK(values_of(p.cdf(0 * x)) == std::vector<double>(3, 0));
  check_close(values_of(p.icdf(tensor_of<D>({0.1, 0.5, 0.975}))),
              {0.193829614273189, 1.64872127070013, 2643.58691427548});
  check_close(values_of(kl_divergence(p, LogNormal(0.5, tensor_of<D>({2})))),
              {1.19879436111989, 0.318147180559945, 0.500784891891836});
}

TEMPLATE_TEST_CASE("LogNormal's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto loc = spread_tensor<D>({3}, -1, 1).requires_grad_(),
             scale = spread_tensor<D>({3}, 0.5, 1).requires_grad_(), x = spread_tensor<D>({3}, 0.5, 2).requires_grad_();
  CHECK(gradcheck([](auto l, auto s, auto v) { return LogNormal(l, s).log_prob(v); }, std::tuple{loc, scale, x}));
  CHECK(gradcheck([](auto l, auto s) { return LogNormal(l, s).entropy(); }, std::tuple{loc, scale}));
  CHECK(gradcheck([](auto l, auto s) { return LogNormal(l, s).mean() + LogNormal(l, s).variance(); },
                  std::tuple{loc, scale}));
  CHECK(gradcheck(
      [](auto l, auto s) {
        manual_seed(1);
        return LogNormal(l, s).rsample({2});
      },
      std::tuple{loc, scale}));
}

TEMPLATE_TEST_CASE("LogNormal's samples have its cdf", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  check_distribution(values_of(LogNormal<TestType>(1, 2).sample({many})),
                     [](double x) { return 0.5 * std::erfc((1 - std::log(x)) / 2 / std::sqrt(2)); });
}

TEST_CASE("LogNormal refuses parameters and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 0});
  CHECK(error_of([&] { LogNormal(0, x); }) == "LogNormal: scale must be positive, not 0");
  CHECK(error_of([&] { LogNormal(x, 1).log_prob(x); }) == "LogNormal.log_prob: the value must be positive, not 0");
  CHECK(error_of([&] { LogNormal(x, 1).cdf(-x); }) == "LogNormal.cdf: the value must be 0 or more, not -1");
  TERN_TEST_LINE(LogNormal(0, x));
}

}  // namespace distributions_log_normal
