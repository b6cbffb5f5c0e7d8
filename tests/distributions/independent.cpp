// Independent against values recorded from PyTorch 2.15, finite differences, and the shapes of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/independent.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/distributions/normal.hpp"

namespace distributions_independent {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

TEMPLATE_TEST_CASE("Independent has PyTorch's values", "[distributions]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0, 1, -1, 2, 0.3, 0.4}, {2, 3}), scale = tensor_of<D>({0.5, 1, 3});
  const Normal base(x, scale), zero(0 * x, 1);
  const Independent rows(base, 1), all(base, 2), none(base, 0);
  CHECK(rows.batch_shape() == tern::detail::Shape{2});
  CHECK(rows.event_shape() == tern::detail::Shape{3});
  CHECK(all.event_shape() == tern::detail::Shape{2, 3});
  CHECK(values_of(rows.mean()) == values_of(x));
  CHECK(values_of(rows.stddev()) == std::vector<double>{0.5, 1, 3, 0.5, 1, 3});
  check_close(values_of(rows.entropy()), {4.66228070772218, 4.66228070772218});
  check_close(values_of(rows.log_prob(x + 1)), {-5.71783626327774, -5.71783626327774});
  check_close(values_of(kl_divergence(rows, Independent(zero, 1))), {4.21953489189184, 5.34453489189184});
  check_close(values_of(all.entropy()), {9.32456141544436});
  check_close(values_of(all.log_prob(x + 1)), {-11.4356725265555});
  check_close(values_of(kl_divergence(all, Independent(zero, 2))), {9.56406978378367});
  check_close(values_of(none.log_prob(x)), values_of(base.log_prob(x)));
  CHECK(rows.sample({4}).shape() == tern::detail::Shape{4, 2, 3});
  CHECK(Independent(rows, 1).event_shape() == tern::detail::Shape{2, 3});
}

TEMPLATE_TEST_CASE("Independent's gradients are those of finite differences", "[distributions][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto loc = spread_tensor<D>({2, 3}).requires_grad_(), scale = spread_tensor<D>({3}, 0.5, 2).requires_grad_();
  CHECK(gradcheck(
      [](auto l, auto s) {
        manual_seed(1);
        const Independent p(Normal(l, s), 1), q(Normal(0, s), 1);
        return kl_divergence(p, q) + q.log_prob(p.rsample()) + p.entropy();
      },
      std::tuple{loc, scale}));
}

TEST_CASE("Independent takes no more dimensions than the batch has", "[distributions][refusal]") {
  const Normal base(zeros<Cpu>({2, 3}), 1);
  CHECK(error_of([&] { Independent(base, 3); }) ==
        "Independent: 3 dimensions of a batch of shape [2, 3] cannot be the event's");
  CHECK(error_of([&] { kl_divergence(Independent(base, 1), Independent(base, 2)); }) ==
        "kl_divergence: the events have 1 and 2 dimensions of the batch");
  CHECK(error_of([&] { Independent(base, 1).log_prob(zeros<Cpu>({2})); }).find("Independent.log_prob: ") == 0);
}

}  // namespace distributions_independent
