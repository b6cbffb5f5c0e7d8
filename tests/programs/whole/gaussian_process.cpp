// A Gaussian process, whose length scale, variance and noise come from the likelihood of noisy values of a sine.
#include <tern/tern.hpp>
#include <tern/linalg/linalg.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
using namespace tern;
using Matrix = Tensor<Cpu, double>;

Matrix rbf(const Matrix& a, const Matrix& b, const Matrix& length, const Matrix& variance) {
  return variance * exp(-0.5 * cdist(a / length, b / length).pow(2));
}

int main() {
  manual_seed(1);
  const Index n = 30;
  const auto x = linspace<Cpu, double>(0, 5, n).unsqueeze(1);
  const auto y = sin(x).squeeze() + 0.1 * randn<Cpu, double>({n});
  auto log_length = zeros<Cpu, double>({}).requires_grad_(), log_variance = zeros<Cpu, double>({}).requires_grad_();
  auto log_noise = full<Cpu, double>({}, -2).requires_grad_();
  const auto covariance = [&] {
    return rbf(x, x, log_length.exp(), log_variance.exp()) + (2 * log_noise).exp() * eye<Cpu, double>(n);
  };
  optim::LBFGS opt({log_length, log_variance, log_noise},
                   {.lr = 0.1, .max_iter = 20, .line_search_fn = "strong_wolfe"});
  for (int i = 0; i < 5; ++i) {
    const auto loss = opt.step([&] {
      opt.zero_grad();
      const auto l = linalg::cholesky(covariance());
      const auto alpha = cholesky_solve(y.unsqueeze(1), l).squeeze(1);
      const auto nll =
          0.5 * dot(y, alpha) + l.diagonal().log().sum() + 0.5 * double(n) * std::log(2 * std::numbers::pi);
      nll.backward();
      return nll;
    });
    std::printf("negative log likelihood %.4f\n", loss);
  }
  NoGradGuard no_grad;
  const auto at = linspace<Cpu, double>(0.5, 4.5, 9).unsqueeze(-1);
  const auto k = covariance(), across = rbf(x, at, log_length.exp(), log_variance.exp());
  const auto mean = across.t().mm(linalg::solve(k, y.unsqueeze(1))).squeeze(1);
  const auto v = linalg::solve_triangular(linalg::cholesky(k), across, /*upper=*/false);
  const auto deviation = (log_variance.exp() - v.square().sum(0)).sqrt();
  for (Index i = 0; i < at.size(0); ++i)
    std::printf("%.1f  %.3f +- %.3f\n", at[i][0].item(), mean[i].item(), deviation[i].item());
  const auto [u, s, vh] = linalg::svd(k, false);
  const bool same = allclose(u.mm(diag(s)).mm(vh), k) && allclose(s.log().sum(), k.logdet());
  std::printf("noise %.3f, condition %.1f\n", log_noise.exp().item(), (s[0] / s[-1]).item());
  return !(same && (mean - sin(at).squeeze(1)).abs().max().item() < 0.15);
}
