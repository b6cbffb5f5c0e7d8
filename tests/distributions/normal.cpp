// The normal distribution against values recorded from PyTorch 2.15, finite differences, and the cdf of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/normal.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_normal {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Normal has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Normal n(tensor_of<D>({-1, 0.5, 2}), tensor_of<D>({0.5, 1, 3}));
  const auto x = tensor_of<D>({-1.5, 0, 4, 0.25, 1, -2}, {2, 3});
  check_close(values_of(n.log_prob(x)), {-0.725791352644727, -1.04393853320467, -2.239773044095, -3.35079135264473,
                                         -1.04393853320467, -2.90643971076167});
  check_close(values_of(n.cdf(x)), {0.158655253931457, 0.308537538725987, 0.747507462453077, 0.993790334674224,
                                    0.691462461274013, 0.0912112197258679});
  check_close(values_of(n.icdf(tensor_of<D>({0.1, 0.5, 0.975}))), {-1.6407757827723, 0.5, 7.87989195362016});
  check_close(values_of(n.entropy()), {0.725791352644727, 1.41893853320467, 2.51755082187278});
  CHECK(values_of(n.mean()) == std::vector<double>{-1, 0.5, 2});
  CHECK(values_of(n.variance()) == std::vector<double>{0.25, 1, 9});
  CHECK(values_of(n.stddev()) == std::vector<double>{0.5, 1, 3});
  const Normal q(0.5, tensor_of<D>({2, 0.7}, {2, 1}));
  check_close(values_of(kl_divergence(n, q)), {1.19879436111989, 0.318147180559945, 0.500784891891836, 2.38749264478448,
                                               0.163733219326574, 9.52430460412785});
  // Far from the mean the cdf keeps its precision.
  check_close(values_of(Normal<D, double>(0, 1).cdf(tensor_of<D>({-10}))), {7.61985302416052e-24}, 1e-12, 0);
}

TEMPLATE_TEST_CASE("Normal's parameters are numbers and tensors, broadcast", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto row = ones<D>({3}), column = ones<D>({2, 1});
  CHECK(Normal(row, 2.0).batch_shape() == tern::detail::Shape{3});
  CHECK(Normal(0, column).batch_shape() == tern::detail::Shape{2, 1});
  CHECK(values_of(Normal(0, column).mean()) == std::vector<double>{0, 0});
  CHECK(Normal(row, column).entropy().shape() == tern::detail::Shape{2, 3});
  CHECK(Normal(row[0], column[1]).batch_shape() == tern::detail::Shape{1});
  CHECK(Normal<D>(0, 1).sample().shape() == tern::detail::Shape{});
  CHECK(Normal(row, column).sample({4, 5}).shape() == tern::detail::Shape{4, 5, 2, 3});
  CHECK(Normal(row, column).event_shape() == tern::detail::Shape{});
  CHECK(Normal(row.to(f16), 1).log_prob(row.to(f16)).shape() == tern::detail::Shape{3});
}

TEMPLATE_TEST_CASE("Normal's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto loc = spread_tensor<D>({3}).requires_grad_(), scale = spread_tensor<D>({2, 1}, 0.5, 2).requires_grad_(),
             x = spread_tensor<D>({2, 3}).requires_grad_(), p = spread_tensor<D>({3}, 0.1, 0.9).requires_grad_();
  const auto log_prob = [](auto l, auto s, auto v) { return Normal(l, s).log_prob(v); };
  CHECK(gradcheck(log_prob, std::tuple{loc, scale, x}));
  CHECK(gradgradcheck(log_prob, std::tuple{loc, scale, x}));
  CHECK(gradcheck([](auto l, auto s, auto v) { return Normal(l, s).cdf(v); }, std::tuple{loc, scale, x}));
  CHECK(gradcheck([](auto l, auto s, auto v) { return Normal(l, s).icdf(v); }, std::tuple{loc, scale, p}));
  CHECK(gradcheck([](auto s) { return Normal(0, s).entropy(); }, std::tuple{scale}));
  CHECK(
      gradcheck([](auto l, auto s) { return kl_divergence(Normal(l, s), Normal(s, exp(l))); }, std::tuple{loc, scale}));
  CHECK(
      gradcheck([](auto l, auto s) { return kl_divergence(Normal(s, exp(l)), Normal(l, s)); }, std::tuple{loc, scale}));
  CHECK(gradcheck(
      [](auto l, auto s) {
        manual_seed(1);
        return Normal(l, s).rsample({2});
      },
      std::tuple{loc, scale}));
  CHECK_FALSE(Normal(loc, scale).sample().requires_grad());
}

TEMPLATE_TEST_CASE("Normal's samples are normal", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  const Normal<TestType> n(1, 3);
  const auto cdf = [](double x) { return 0.5 * std::erfc((1 - x) / 3 / std::sqrt(2)); };
  check_distribution(values_of(n.sample({many})), cdf);
  check_distribution(values_of(n.rsample({many})), cdf);
}

TEST_CASE("Normal refuses parameters and values that are none", "[distributions][refusal]") {
  const auto x = tensor<Cpu>({1, 2});
  CHECK(error_of([&] { Normal(x, -1.0); }) == "Normal: scale must be positive, not -1");
  CHECK(error_of([&] { Normal(0, x - 1); }) == "Normal: scale must be positive, not 0");
  CHECK(error_of([&] { Normal(x, NAN); }) == "Normal: scale must be positive, not nan");
  CHECK(error_of([&] { Normal(NAN, x); }) == "Normal: loc must be a number, not nan");
  CHECK(error_of([&] { Normal(x, ones<Cpu>({3})); }) == "Normal: shapes do not broadcast: [2] and [3]");
  CHECK(error_of([&] { Normal(Tensor<Cpu>(), 1); }) == "Normal: a tensor is undefined");
  CHECK(error_of([&] { Normal(x, 1).log_prob(x * NAN); }) == "Normal.log_prob: the value must be a number, not nan");
  CHECK(error_of([&] { Normal(x, 1).cdf(ones<Cpu>({3})); }) == "Normal.cdf: shapes do not broadcast: [3] and [2]");
  TERN_TEST_LINE(Normal(x, -1.0));
  TERN_TEST_LINE(Normal(x, 1).log_prob(x * NAN));
}

}  // namespace distributions_normal
