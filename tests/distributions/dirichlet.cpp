// The Dirichlet distribution against values recorded from PyTorch 2.15, finite differences, and the moments of its
// samples.
#include "distributions/samples.hpp"
#include "tern/distributions/dirichlet.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_dirichlet {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Dirichlet has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Dirichlet p(tensor_of<D>({0.5, 1, 4, 2, 0.7, 3}, {2, 3}));
  check_close(values_of(p.mean()), {0.0909090909090909, 0.181818181818182, 0.727272727272727, 0.350877192982456,
                                    0.12280701754386, 0.526315789473684});
  check_close(values_of(p.variance()), {0.0127145581691036, 0.0228862047043865, 0.0305149396058487, 0.0339943863324192,
                                        0.0160784259680361, 0.0372100715260264});
  check_close(values_of(p.entropy()), {-2.3160647023177, -1.50880092823256});
  check_close(values_of(p.log_prob(tensor_of<D>({0.1, 0.2, 0.7}))), {1.67495727014679, 0.796849620798688});
  check_close(values_of(kl_divergence(p, Dirichlet(tensor_of<D>({1, 2, 3})))), {1.11997991387878, 1.73948055074723});
  CHECK(p.batch_shape() == tern::detail::Shape{2});
  CHECK(p.event_shape() == tern::detail::Shape{3});
}

TEMPLATE_TEST_CASE("Dirichlet's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({2, 3}, 0.5, 3).requires_grad_(), b = spread_tensor<D>({3}, 0.5, 2).requires_grad_();
  const auto x = tensor_of<D>({0.1, 0.2, 0.7});
  CHECK(gradcheck([x](auto c) { return Dirichlet(c).log_prob(x) + Dirichlet(c).entropy(); }, std::tuple{a}));
  CHECK(gradcheck([](auto c, auto d) { return kl_divergence(Dirichlet(c), Dirichlet(d)); }, std::tuple{a, b}));
}

TEMPLATE_TEST_CASE("Dirichlet's samples have its moments", "[distributions][random]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  const Dirichlet p(tensor_of<D, float>({0.5, 1, 4}));
  const auto x = p.sample({many});
  check_close(values_of(x.sum(-1)), std::vector<double>(many, 1), 1e-6);
  const auto means = values_of(p.mean()), variances = values_of(p.variance());
  for (const std::size_t k : {0, 1, 2}) check_moments(values_of(x.select(1, Index(k))), means[k], variances[k]);
  CHECK(Dirichlet(ones<D>({2, 3})).sample({4}).shape() == tern::detail::Shape{4, 2, 3});
}

TEST_CASE("Dirichlet refuses parameters and values that are none", "[distributions][refusal]") {
  const auto a = tensor<Cpu>({1, 2});
  const Dirichlet p(a);
  CHECK(error_of([&] { Dirichlet(a - 1); }) == "Dirichlet: concentration must be positive, not 0");
  CHECK(error_of([&] { Dirichlet(ones<Cpu>({})); }) == "Dirichlet: at least one dimension is needed");
  CHECK(error_of([&] { p.log_prob(a); }) == "Dirichlet.log_prob: the value's sum must be 1, not 3");
  CHECK(error_of([&] { p.log_prob(2 - a); }) == "");
  CHECK(error_of([&] { p.log_prob(tensor<Cpu>({-1, 2})); }) ==
        "Dirichlet.log_prob: the value must be 0 or more, not -1");
  CHECK(error_of([&] { p.log_prob(ones<Cpu>({3})); }) ==
        "Dirichlet.log_prob: a value of shape [3] does not end with the event's shape [2]");
}

}  // namespace distributions_dirichlet
