// The categorical distribution against values recorded from PyTorch 2.15, finite differences, and the frequencies of
// its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/categorical.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_categorical {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Categorical has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Categorical p(tensor_of<D>({1, 2, 5, 0, 1, 1}, {2, 3}));
  const auto z = Categorical<D, double>({.logits = tensor_of<D>({-1, 0.5, 2, -INFINITY, 0, 1}, {2, 3})});
  check_close(values_of(p.probs()), {0.125, 0.25, 0.625, 0, 0.5, 0.5});
  check_close(values_of(p.logits()), {-2.07944154167984, -1.38629436111989, -0.470003629245736, -36.0436533891172,
                                      -0.693147180559945, -0.693147180559945});
  check_close(values_of(p.entropy()), {0.900256051268537, 0.693147180559945});
  check_close(values_of(p.log_prob(tensor_of<D, Index>({2, 0}))), {-0.470003629245736, -36.0436533891172});
  check_close(values_of(kl_divergence(p, z)), {0.0910552453886203, 0.120114506958278});
  check_close(values_of(z.probs()),
              {0.0391125732706875, 0.175290392140037, 0.785597034589276, 0, 0.268941421369995, 0.731058578630005});
  check_close(values_of(z.logits()), {-3.24131129665716, -1.74131129665716, -0.241311296657157, -INFINITY,
                                      -1.31326168751822, -0.313261687518223});
  check_close(values_of(z.entropy()), {0.621584604679275, 0.582203108888218});
  check_close(values_of(z.log_prob(tensor_of<D, Index>({2, 1}, {2, 1}))),
              {-0.241311296657157, -0.313261687518223, -1.74131129665716, -1.31326168751822});
  check_close(values_of(kl_divergence(z, p)), {0.0719852445456639, 0.110944071671727});
  const Categorical certain(tensor_of<D>({0, 1, 1}));
  check_close(values_of(kl_divergence(p, certain)), {INFINITY, 0});
  CHECK(p.batch_shape() == tern::detail::Shape{2});
  CHECK(p.event_shape() == tern::detail::Shape{});
  CHECK(std::isnan(values_of(p.mean())[1]));
  CHECK(std::isnan(values_of(p.stddev())[1]));
}

TEMPLATE_TEST_CASE("Categorical's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto p = spread_tensor<D>({2, 3}, 0.1, 0.9).requires_grad_(), z = spread_tensor<D>({2, 3}).requires_grad_();
  const auto x = tensor_of<D, Index>({2, 0});
  CHECK(gradcheck([x](auto v) { return Categorical(v).log_prob(x) + Categorical(v).entropy(); }, std::tuple{p}));
  CHECK(gradcheck(
      [x](auto v) {
        const auto c = Categorical<D, double>({.logits = v});
        return c.log_prob(x) + c.entropy();
      },
      std::tuple{z}));
  CHECK(gradcheck([](auto a, auto b) { return kl_divergence(Categorical(a), Categorical<D, double>({.logits = b})); },
                  std::tuple{p, z}));
}

TEMPLATE_TEST_CASE("Categorical's samples have its frequencies", "[distributions][random]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  const Categorical c(tensor_of<D, float>({1, 2, 5, 0, 3, 1}, {2, 3}));
  const auto drawn = c.sample({many});
  CHECK(c.sample({4, 5}).shape() == tern::detail::Shape{4, 5, 2});
  CHECK(c.sample().shape() == tern::detail::Shape{2});
  CHECK(Categorical(tensor_of<D, half>({1, 2})).sample().shape() == tern::detail::Shape{});
  for (const Index row : {0, 1}) {
    const auto x = values_of(drawn.select(1, row)), p = values_of(c.probs()[row]);
    for (const std::size_t k : {0, 1, 2})
      CHECK(std::fabs(double(std::count(x.begin(), x.end(), double(k))) / double(many) - p[k]) <=
            5 * std::sqrt(p[k] * (1 - p[k]) / double(many)));
  }
}

TEMPLATE_TEST_CASE("Categorical refuses actions that it has not", "[distributions][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Categorical c(ones<D>({2, 3}));
  const auto log_prob = [&](const std::vector<double>& actions) {
    return error_of([&] { values_of(c.log_prob(tensor_of<D, Index>(actions))); });
  };
  CHECK(log_prob({0, 3}) == "Categorical.log_prob: index 3 is out of range for a dimension of size 3");
  CHECK(log_prob({-1, 0}) == "Categorical.log_prob: index -1 is out of range for a dimension of size 3");
  CHECK(log_prob({0, 0, 0}) == "Categorical.log_prob: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([] { Categorical(ones<D>({})); }) == "Categorical: at least one dimension is needed");
}

TEST_CASE("Categorical refuses parameters that are none", "[distributions][refusal]") {
  const auto p = tensor<Cpu>({1, -1});
  CHECK(error_of([&] { Categorical{p}; }) == "Categorical: probs must be 0 or more, not -1");
  CHECK(error_of([&] { Categorical(0 * p * p); }) == "Categorical: the sum of probs must be positive, not 0");
  CHECK(error_of([&] { Categorical<Cpu>({.logits = p * NAN}); }) == "Categorical: logits must be a number, not nan");
  CHECK(error_of([&] { Categorical<Cpu>({.probs = p, .logits = p}); }) ==
        "Categorical: one of probs and logits must be given, and not both");
  TERN_TEST_LINE(Categorical<Cpu>({.probs = p}));
}

}  // namespace distributions_categorical
