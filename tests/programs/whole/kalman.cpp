// A Kalman filter follows moving points, and learns its noise by maximum likelihood.
#include <tern/tern.hpp>
#include <tern/linalg/linalg.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
using namespace tern;

using Matrix = Tensor<Cpu, double>;

struct Model {
  Matrix F, H, Q, R, m0, P0;  // transition, observation, their noises, the first state's mean and covariance
};

struct Filtered {
  Matrix mean, covariance, log_likelihood;  // [n, 2, 1], [2, 2], []
};

// y: [steps, n, 1, 1], n points at once.
Filtered filter(const Model& k, const Matrix& y) {
  auto m = k.m0.expand({y.size(1), 2, 1});
  auto P = k.P0;
  auto log_likelihood = scalar_tensor<Cpu, double>(0);
  const auto I = eye<Cpu, double>(2);
  for (Index t = 0; t < y.size(0); ++t) {
    if (t > 0) {
      m = matmul(k.F, m);
      P = matmul(matmul(k.F, P), k.F.mT()) + k.Q;
    }
    const auto S = matmul(matmul(k.H, P), k.H.mT()) + k.R;
    const auto K = linalg::solve(S, matmul(k.H, P)).mT();  // P Hᵀ S⁻¹
    const auto innovation = y[t] - matmul(k.H, m);
    m = m + matmul(K, innovation);
    P = matmul(I - matmul(K, k.H), P);
    const auto L = linalg::cholesky(S);
    const auto z = linalg::solve_triangular(L, innovation, false);
    log_likelihood =
        log_likelihood -
        0.5 * (z.square().sum() + y.size(1) * (2 * L.diagonal().log().sum() + std::log(2 * std::numbers::pi)));
  }
  return {m, P, log_likelihood};
}

// Q of white acceleration and R, from the logarithms of their deviations.
Model model(const Matrix& log_q, const Matrix& log_r) {
  const double dt = 0.1;
  const auto G = tensor<Cpu, double>({{dt * dt / 2}, {dt}});
  return {.F = tensor<Cpu, double>({{1, dt}, {0, 1}}),
          .H = tensor<Cpu, double>({{1, 0}}),
          .Q = (2 * log_q).exp() * matmul(G, G.mT()) + 1e-9 * eye<Cpu, double>(2),
          .R = (2 * log_r).exp().reshape({1, 1}),
          .m0 = zeros<Cpu, double>({2, 1}),
          .P0 = eye<Cpu, double>(2)};
}

int main() {
  manual_seed(4);
  const Index steps = 60, n = 8;
  auto log_q = scalar_tensor<Cpu, double>(std::log(2.0)), log_r = scalar_tensor<Cpu, double>(std::log(0.3));
  const auto truth = model(log_q, log_r);
  auto x = randn<Cpu, double>({n, 2, 1});
  std::vector<Matrix> seen;
  for (Index t = 0; t < steps; ++t) {
    if (t > 0) x = matmul(truth.F, x) + matmul(linalg::cholesky(truth.Q), randn<Cpu, double>({n, 2, 1}));
    seen.push_back(matmul(truth.H, x) + truth.R.sqrt() * randn<Cpu, double>({n, 1, 1}));
  }
  const auto y = stack(seen);
  const auto [mean, covariance, log_likelihood] = filter(truth, y);

  // All observations are jointly normal, so the last state's mean is a conditional mean: one solve.
  std::vector<Matrix> P{truth.P0};
  for (Index t = 1; t < steps; ++t) P.push_back(matmul(matmul(truth.F, P.back()), truth.F.mT()) + truth.Q);
  auto C = zeros<Cpu, double>({steps, steps}), last = zeros<Cpu, double>({2, steps});
  for (Index i = 0; i < steps; ++i) {
    auto cov = P[std::size_t(i)];  // of the states j and i
    for (Index j = i; j < steps; ++j) {
      C[{i, j}] = C[{j, i}] = cov[{0, 0}];
      if (j == steps - 1) last[{Slice(), i}] = cov.select(1, 0);
      cov = matmul(truth.F, cov);
    }
  }
  C += truth.R.squeeze() * eye<Cpu, double>(steps);
  const auto Y = y.view({steps, n});
  const auto joint_mean = matmul(last, linalg::solve(C, Y)).t().unsqueeze(2);
  const auto log_determinant = linalg::slogdet(C).logabsdet + steps * std::log(2 * std::numbers::pi);
  const auto joint_likelihood = -0.5 * ((Y * linalg::solve(C, Y)).sum() + n * log_determinant);

  auto q = zeros<Cpu, double>({}).requires_grad_(), r = zeros<Cpu, double>({}).requires_grad_();
  optim::Adam adam({q, r}, {.lr = 0.1});
  double learned = 0;
  for (int step = 0; step < 60; ++step) {
    const auto loss = -filter(model(q, r), y).log_likelihood;
    adam.zero_grad();
    loss.backward();
    adam.step();
    learned = -loss.item();
  }
  std::printf("log likelihood %.3f (joint %.3f), learned %.3f with q %.2f, r %.2f\n", log_likelihood.item(),
              joint_likelihood.item(), learned, std::exp(q.item()), std::exp(r.item()));
  const bool same = allclose(mean, joint_mean, 0, 1e-9) && allclose(log_likelihood, joint_likelihood, 0, 1e-8);
  return same && learned > log_likelihood.item() ? 0 : 1;
}
