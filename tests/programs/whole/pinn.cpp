// A network solves the heat equation u_t = a u_xx, and another one finds a from measurements.
#include <tern/tern.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
using namespace tern;

constexpr double pi = std::numbers::pi, a_true = 0.1;

struct Solution : nn::Module<Cpu> {
  nn::Sequential<Cpu> layers{nn::Linear<Cpu>(2, 32), nn::Tanh<Cpu>(), nn::Linear<Cpu>(32, 32), nn::Tanh<Cpu>(),
                             nn::Linear<Cpu>(32, 1)};
  TERN_FIELDS(Solution, layers)
  Tensor<Cpu> forward(const Tensor<Cpu>& x, const Tensor<Cpu>& t) { return layers(cat({x, t}, 1)); }
};

Tensor<Cpu> exact(const Tensor<Cpu>& x, const Tensor<Cpu>& t) { return (pi * x).sin() * (-a_true * pi * pi * t).exp(); }

// u_t - a u_xx at points that require gradients.
template <class A>
Tensor<Cpu> residual(Solution& u, const Tensor<Cpu>& x, const Tensor<Cpu>& t, const A& a) {
  const auto first = grad(u(x, t).sum(), {x, t}, {.create_graph = true});
  const auto u_xx = grad(first[0].sum(), x, {.create_graph = true});
  return first[1] - a * u_xx;
}

double largest_error(Solution& u) {
  NoGradGuard no_grad;
  const auto axis = linspace<Cpu>(0, 1, 41);
  const auto grid = meshgrid({axis, axis}, "ij");
  const auto x = grid[0].reshape({-1, 1}), t = grid[1].reshape({-1, 1});
  return (u(x, t) - exact(x, t)).abs().max().item<double>();
}

double solve() {
  Solution u;
  const auto x = rand<Cpu>({256, 1}).requires_grad_(), t = rand<Cpu>({256, 1}).requires_grad_();
  const auto side = rand<Cpu>({64, 1}), zero = zeros<Cpu>({64, 1}), one = ones<Cpu>({64, 1});
  const auto loss = [&] {
    return residual(u, x, t, a_true).square().mean() + mse_loss(u(side, zero), exact(side, zero)) +
           u(zero, side).square().mean() + u(one, side).square().mean();
  };
  optim::Adam adam(u.parameters(), {.lr = 5e-3});
  for (int step = 0; step < 400; ++step) {
    adam.zero_grad();
    loss().backward();
    adam.step();
  }
  optim::LBFGS lbfgs(u.parameters(), {.max_iter = 150, .line_search_fn = optim::LineSearch::strong_wolfe});
  lbfgs.step([&] {
    lbfgs.zero_grad();
    auto l = loss();
    l.backward();
    return l;
  });
  return largest_error(u);
}

double find_coefficient() {
  Solution u;
  auto a = scalar_tensor<Cpu>(0.5).requires_grad_();
  const auto x = rand<Cpu>({256, 1}).requires_grad_(), t = rand<Cpu>({256, 1}).requires_grad_();
  const auto measured = exact(x, t).detach();
  optim::Adam adam({{u.parameters(), {.lr = 5e-3}}, {{a}, {.lr = 1e-2}}});
  for (int step = 0; step < 2000; ++step) {
    const auto loss = mse_loss(u(x, t), measured) + residual(u, x, t, a).square().mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  return a.item<double>();
}

int main() {
  manual_seed(1);
  const double error = solve(), a = find_coefficient();
  std::printf("largest error %.5f, coefficient %.4f\n", error, a);
  return error < 1e-2 && std::abs(a - a_true) < 5e-3 ? 0 : 1;
}
