// The geometric distribution against values recorded from PyTorch 2.15, finite differences, and the frequencies of its
// samples.
#include "distributions/samples.hpp"
#include "tern/distributions/geometric.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_geometric {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Geometric has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Geometric p(tensor_of<D>({0.2, 0.5, 1})), z = Geometric<D, double>({.logits = tensor_of<D>({-1, 0.3, 2})});
  const Geometric<D, double> q(0.7);
  check_close(values_of(p.mean()), {4, 1, 0});
  check_close(values_of(p.variance()), {20, 2, 0});
  check_close(values_of(p.entropy()), {2.50201211769094, 1.38629436111989, 2.22044604925032e-16});
  check_close(values_of(p.log_prob(tensor_of<D>({3, 0, 0}))), {-2.27886856637673, -0.693147180559945, 0});
  check_close(values_of(kl_divergence(p, q)), {2.67055404355154, 0.174353387144778, 0.356674943938732});
  check_close(values_of(z.mean()), {2.71828182845905, 0.740818220681718, 0.135335283236613});
  check_close(values_of(z.entropy()), {2.16479524025142, 1.1872771765058, 0.414776415841359});
  check_close(values_of(z.log_prob(tensor_of<D>({3, 0, 2}))),
              {-2.25304675007289, -0.554355244468527, -4.38078403312891});
  check_close(values_of(kl_divergence(z, q)), {1.46461709964538, 0.0613227580828546, 0.104838528580003});
  CHECK(values_of(p.sample({3}).select(1, 2)) == std::vector<double>(3, 0));
}

TEMPLATE_TEST_CASE("Geometric's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto p = spread_tensor<D>({3}, 0.1, 0.9).requires_grad_(), z = spread_tensor<D>({3}).requires_grad_();
  const auto x = tensor_of<D>({0, 1, 3});
  CHECK(gradcheck([x](auto v) { return Geometric(v).log_prob(x) + Geometric(v).entropy() + Geometric(v).variance(); },
                  std::tuple{p}));
  CHECK(gradcheck([](auto a, auto b) { return kl_divergence(Geometric(a), Geometric<D, double>({.logits = b})); },
                  std::tuple{p, z}));
}

TEMPLATE_TEST_CASE("Geometric's samples have its frequencies", "[distributions][random]", TERN_TEST_DEVICES) {
  manual_seed(1);
  const auto x = values_of(Geometric<TestType>(0.3).sample({many}));
  check_moments(x, 0.7 / 0.3, 0.7 / 0.09);
  for (const double k : {0, 1, 5}) {
    const double p = 0.3 * std::pow(0.7, k);
    CHECK(std::fabs(double(std::count(x.begin(), x.end(), k)) / double(many) - p) <
          5 * std::sqrt(p * (1 - p) / double(many)));
  }
}

TEST_CASE("Geometric refuses parameters and values that are none", "[distributions][refusal]") {
  CHECK(error_of([] { Geometric<Cpu>(0); }) == "Geometric: probs must be positive, not 0");
  CHECK(error_of([] { Geometric<Cpu>(1.5); }) == "Geometric: probs must be in [0, 1], not 1.5");
  CHECK(error_of([] { Geometric<Cpu>(0.5).log_prob(tensor<Cpu>({0.5})); }) ==
        "Geometric.log_prob: the value must be 0, 1, 2 …, not 0.5");
}

}  // namespace distributions_geometric
