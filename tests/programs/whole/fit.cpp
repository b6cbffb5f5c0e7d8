// A damped oscillator is fitted to measurements by LBFGS; the Hessian by double backward gives the parameters'
// uncertainties.
#include <tern/tern.hpp>
#include <tern/linalg/linalg.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
using namespace tern;

using Vec = Tensor<Cpu, double>;

struct Oscillator {
  Vec t, data;
  double sigma = 0.02;
  Vec model(const Vec& theta) const {
    const auto A = theta[0], gamma = theta[1], omega = theta[2], phi = theta[3];
    return A * exp(-gamma * t) * cos(omega * t + phi);
  }
  Vec chi2(const Vec& theta) const { return ((model(theta) - data) / sigma).pow(2).sum() / 2; }
};

/// d² f / d θ², row by row.
Vec hessian_by_rows(const std::function<Vec(const Vec&)>& f, const Vec& theta) {
  auto x = theta.detach().clone().requires_grad_(true);
  const auto g = grad(f(x), x, {.create_graph = true});
  std::vector<Vec> rows;
  for (Index i = 0; i < g.size(0); ++i) rows.push_back(grad(g[i], x, {.retain_graph = true}));
  return stack(rows);
}

int main() {
  Oscillator problem;
  problem.t = linspace<Cpu, double>(0, 10, 200);
  const auto truth = tensor<Cpu, double>({1.5, 0.2, 3.0, 0.4});
  problem.data = problem.model(truth) + 0.02 * sin(1000 * problem.t.square());

  auto theta = tensor<Cpu, double>({1.0, 0.1, 2.9, 0.0}).requires_grad_();
  optim::LBFGS optimizer({theta}, {.lr = 1,
                                   .max_iter = 100,
                                   .tolerance_grad = 1e-9,
                                   .tolerance_change = 1e-12,
                                   .history_size = 10,
                                   .line_search_fn = optim::LineSearch::strong_wolfe});
  int calls = 0;
  auto closure = [&]() -> Vec {
    optimizer.zero_grad();
    auto loss = problem.chi2(theta);
    loss.backward();
    ++calls;
    return loss;
  };
  for (int i = 0; i < 3; ++i) {
    const auto loss = optimizer.step(closure);
    std::cout << "chi2/2 " << loss << " after " << calls << " calls, |g| " << theta.grad().abs().max().item() << "\n";
  }
  theta.requires_grad_(false);
  const auto f = [&](const auto& th) { return problem.chi2(th); };
  const auto H = hessian(f, theta);
  const auto H2 = hessian_by_rows(f, theta);
  const auto covariance = linalg::inv(H);
  const auto errors = covariance.diagonal().sqrt();
  const char* names[] = {"A", "gamma", "omega", "phi"};
  for (int i = 0; i < 4; i++)
    std::printf("%-6s %.8f +- %.8f (true %.1f)\n", names[i], theta[i].item(), errors[i].item(), truth(i));
  const auto correlation = covariance / outer(errors, errors);
  std::cout.precision(3);
  std::cout << correlation << "\n";

  // Gauss-Newton's approximation, from the model's Jacobian.
  const auto J = jacobian([&](const auto& th) { return problem.model(th) / problem.sigma; }, theta);
  const auto JTJ = J.t().mm(J);
  const double relative = ((JTJ - H).norm() / H.norm()).item();
  const auto [eigenvalues, _] = linalg::eigh(H);
  std::printf("|JᵀJ - H| / |H| = %.5f, condition %.3f, Hessians differ by %.2e\n", relative,
              (eigenvalues[-1] / eigenvalues[0]).item(), (H - H2).abs().max().item());
  // PyTorch's values of the same fit.
  const auto torch_theta = tensor<Cpu, double>({1.50123158, 0.19943203, 2.99949469, 0.40339830});
  const auto torch_errors = tensor<Cpu, double>({0.00627337, 0.00132149, 0.00125523, 0.00386337});
  return allclose(theta, torch_theta, 0, 1e-6) && allclose(errors, torch_errors, 0, 1e-7) && relative < 0.2 &&
                 allclose(H, H2)
             ? 0
             : 1;
}
