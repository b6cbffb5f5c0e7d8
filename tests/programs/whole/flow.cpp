// A flow of coupling layers (RealNVP: Dinh et al., 2017) learns the density of two moons, and draws from it.
#include <tern/tern.hpp>
#include <tern/distributions.hpp>
#include <cmath>
#include <iostream>
using namespace tern;

struct CouplingLayer : nn::Module<Cpu> {
  Tensor<Cpu> mask;
  nn::Sequential<nn::Linear<Cpu>, nn::ReLU<Cpu>, nn::Linear<Cpu>> s_net, t_net;
  TERN_FIELDS(CouplingLayer, mask, s_net, t_net)
  CouplingLayer(Tensor<Cpu> mask, int hidden)
      : mask(mask), s_net(nn::Linear<Cpu>(2, hidden), nn::ReLU<Cpu>(), nn::Linear<Cpu>(hidden, 2)),
        t_net(nn::Linear<Cpu>(2, hidden), nn::ReLU<Cpu>(), nn::Linear<Cpu>(hidden, 2)) {}
  std::pair<Tensor<Cpu>, Tensor<Cpu>> forward(const Tensor<Cpu>& x) {
    auto x_masked = x * mask;
    auto s = tanh(s_net(x_masked)) * (1 - mask);
    auto t = t_net(x_masked) * (1 - mask);
    return {x_masked + (1 - mask) * (x * exp(s) + t), s.sum(1)};
  }
  Tensor<Cpu> inverse(const Tensor<Cpu>& y) {
    auto y_masked = y * mask;
    auto s = tanh(s_net(y_masked)) * (1 - mask), t = t_net(y_masked) * (1 - mask);
    return y_masked + (1 - mask) * (y - t) * exp(-s);
  }
};

class RealNVP : public nn::Module<Cpu> {
 public:
  nn::ModuleList<CouplingLayer> layers;
  distributions::Normal<Cpu> prior{zeros<Cpu>({2}), ones<Cpu>({2})};
  TERN_FIELDS(RealNVP, layers)
  RealNVP(int n, int hidden) {
    for (int i = 0; i < n; ++i) layers.emplace_back(i % 2 ? tensor<Cpu>({1, 0}) : tensor<Cpu>({0, 1}), hidden);
  }
  Tensor<Cpu> log_prob(Tensor<Cpu> x) {
    auto log_det = zeros<Cpu>(x.size(0));
    for (auto& layer : layers) {
      auto [y, ld] = layer(x);
      x = y;
      log_det += ld;
    }
    return prior.log_prob(x).sum(-1) + log_det;
  }
  Tensor<Cpu> sample(int n) {
    NoGradGuard no_grad;
    auto z = prior.sample({n});
    for (Index i = layers.size() - 1; i >= 0; --i) z = layers[i].inverse(z);
    return z;
  }
};

Tensor<Cpu> moons(int n) {
  auto theta = rand<Cpu>({n}) * M_PI;
  auto which = randint<Cpu>(0, 2, {n}).to(f32);
  auto x = where(which == 0, cos(theta), 1 - cos(theta));
  auto y = where(which == 0, sin(theta), 0.5 - sin(theta));
  return stack({x, y}, 1) + 0.05 * randn<Cpu>({n, 2});
}

int main() {
  manual_seed(0);
  RealNVP flow(4, 32);
  optim::Adam opt(flow.parameters(), 1e-3);
  optim::CosineAnnealingLR sched(opt, 100);
  double first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    auto loss = -flow.log_prob(moons(128)).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    sched.step();
    if (i == 0) first = loss.item();
    last = loss.item<double>();
  }
  auto s = flow.sample(500);
  std::cout << "nll " << first << " -> " << last << ", mean " << s.mean(0) << " std " << s.std(0) << '\n';
  auto state = flow.state_dict();
  for (auto& [k, v] : state) std::cout << k << " " << v.sizes() << "\n";
  return last < first ? 0 : 1;
}
