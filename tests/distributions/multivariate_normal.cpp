// The multivariate normal distribution against values recorded from PyTorch 2.15, finite differences, and the moments
// of its samples.
#include "distributions/samples.hpp"
#include "tern/distributions/multivariate_normal.hpp"
#include "tern/functional/gradcheck.hpp"

namespace distributions_multivariate_normal {
using namespace tern;
using namespace tern::distributions;
using namespace tern_test;

namespace {

Tensor<Cpu, double> covariance() { return tensor<Cpu, double>({{2, 0.5, 0.1}, {0.5, 1, 0.3}, {0.1, 0.3, 3}}); }
Tensor<Cpu, double> factor() { return tensor<Cpu, double>({{1, 0, 0}, {0.5, 2, 0}, {-1, 0.3, 0.7}}); }

}  // namespace

TEST_CASE("MultivariateNormal has PyTorch's values", "[distributions]") {
  const auto loc = tensor<Cpu, double>({-1, 0.5, 2}), x = tensor<Cpu, double>({{0, 1, -1}, {2, 0.3, 0.4}});
  const MultivariateNormal p(loc, covariance());
  CHECK(p.batch_shape() == tern::detail::Shape{});
  CHECK(p.event_shape() == tern::detail::Shape{3});
  check_close(values_of(p.variance()), {2, 1, 3});
  check_close(values_of(p.entropy()), {5.07045451489523});
  check_close(values_of(p.log_prob(x)), {-5.53877475065162, -6.69831306106419});
  check_close(values_of(kl_divergence(p, MultivariateNormal(tensor<Cpu, double>({0, 0, 1}), {.scale_tril = factor()}))),
              {5.20140474991143});
  check_close(values_of(p.scale_tril()), {1.4142135623731, 0, 0, 0.353553390593274, 0.935414346693485, 0,
                                          0.0707106781186548, 0.293987366103667, 1.70545343781982});
  check_close(values_of(p.covariance_matrix()), values_of(covariance()));
  const MultivariateNormal batch(loc, {.scale_tril = stack({factor(), p.scale_tril()})}), q(x, covariance());
  CHECK(batch.batch_shape() == tern::detail::Shape{2});
  CHECK(values_of(batch.mean()) == std::vector<double>{-1, 0.5, 2, -1, 0.5, 2});
  check_close(values_of(batch.variance()), {1, 4.25, 1.58, 2, 1, 3});
  check_close(values_of(batch.entropy()), {4.59328783623523, 5.07045451489523});
  check_close(values_of(batch.log_prob(x)), {-7.67492048929646, -6.69831306106419});
  check_close(values_of(kl_divergence(batch, q)), {3.83865980243211, 3.12785854616896});
  check_close(values_of(kl_divergence(q, batch)), {9.13507821929918, 3.12785854616896});
  CHECK(q.entropy().shape() == tern::detail::Shape{2});
  CHECK(batch.sample({4}).shape() == tern::detail::Shape{4, 2, 3});
}

TEST_CASE("MultivariateNormal's gradients are those of finite differences", "[distributions][gradcheck]") {
  const auto loc = spread_tensor<Cpu>({2, 3}).requires_grad_(), x = spread_tensor<Cpu>({4, 1, 3}).requires_grad_(),
             l = factor().requires_grad_();
  CHECK(gradcheck([](auto m, auto s, auto v) { return MultivariateNormal(m, {.scale_tril = tril(s)}).log_prob(v); },
                  std::tuple{loc, l, x}));
  CHECK(gradcheck(
      [](auto m, auto s) {
        manual_seed(1);
        const MultivariateNormal p(m, matmul(s, s.mT())), q(-m, {.scale_tril = stack({tril(s), 2 * tril(s)})});
        return kl_divergence(p, q) + q.log_prob(p.rsample()) + p.entropy();
      },
      std::tuple{loc, l}));
}

TEST_CASE("MultivariateNormal's samples have its covariance", "[distributions][random]") {
  manual_seed(1);
  const auto x = MultivariateNormal(tensor<Cpu, double>({-1, 0.5, 2}), covariance()).sample({many});
  const auto check = [&](const std::vector<double>& direction, double mean, double variance) {
    check_moments(values_of(mv(x, tensor<Cpu>(direction))), mean, variance);
  };
  check({1, 0, 0}, -1, 2);
  check({0, 1, 0}, 0.5, 1);
  check({1, 1, 0}, -0.5, 4);
  check({1, -1, 1}, 0.5, 4.6);  // 2 + 1 + 3 - 2 (0.5) + 2 (0.1) - 2 (0.3)
}

TEST_CASE("MultivariateNormal refuses parameters and values that are none", "[distributions][refusal]") {
  const auto loc = zeros<Cpu, double>({3});
  const auto refused = [&](const Tensor<Cpu, double>& matrix) {
    return error_of([&] { MultivariateNormal(loc, matrix); });
  };
  const std::string one = "MultivariateNormal: one of covariance_matrix and scale_tril must be given, and not both";
  CHECK(refused(factor()) == "MultivariateNormal: covariance_matrix must be symmetric");
  CHECK(refused(-covariance()).find("MultivariateNormal: matrix 0 of the batch is not positive definite") == 0);
  CHECK(refused(eye<Cpu, double>(2)) == "MultivariateNormal: a matrix of shape [2, 2] does not fit loc of shape [3]");
  CHECK(error_of([&] { MultivariateNormal(loc, {.scale_tril = covariance()}); }) ==
        "MultivariateNormal: scale_tril must be lower triangular");
  CHECK(error_of([&] { MultivariateNormal(loc, {.scale_tril = -factor()}); }) ==
        "MultivariateNormal: the diagonal of scale_tril must be positive, not -1");
  CHECK(error_of([&] { MultivariateNormal(loc, MultivariateNormalOptions<Cpu, double>{}); }) == one);
  CHECK(error_of([&] { MultivariateNormal(loc, {.covariance_matrix = covariance(), .scale_tril = factor()}); }) == one);
  CHECK(error_of([&] { MultivariateNormal(loc, covariance()).log_prob(zeros<Cpu, double>({1})); }) ==
        "MultivariateNormal.log_prob: a value of shape [1] does not end with the event's shape [3]");
}

}  // namespace distributions_multivariate_normal
