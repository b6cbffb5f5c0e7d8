// Proximal policy optimisation balances a pole on a cart.
#include <tern/tern.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
using namespace tern;

struct CartPole {
  std::mt19937 random;
  std::array<float, 4> state{};  // position, velocity, angle, angular velocity
  int steps = 0;
  void reset() {
    for (auto& s : state) s = std::uniform_real_distribution<float>(-0.05f, 0.05f)(random);
    steps = 0;
  }
  // Whether the episode has ended.
  bool step(Index action) {
    auto& [x, dx, angle, turn] = state;
    const float force = action == 1 ? 10.f : -10.f;
    const float c = std::cos(angle), s = std::sin(angle), push = (force + 0.05f * turn * turn * s) / 1.1f;
    const float ddangle = (9.8f * s - c * push) / (0.5f * (4.f / 3.f - 0.1f * c * c / 1.1f));
    const float ddx = push - 0.05f * ddangle * c / 1.1f;
    x += 0.02f * dx, dx += 0.02f * ddx, angle += 0.02f * turn, turn += 0.02f * ddangle;
    return std::abs(x) > 2.4f || std::abs(angle) > 0.2095f || ++steps >= 200;
  }
};

struct ActorCritic : nn::Module<Cpu> {
  nn::Sequential<Cpu> actor{nn::Linear<Cpu>(4, 64), nn::Tanh<Cpu>(), nn::Linear<Cpu>(64, 64), nn::Tanh<Cpu>(),
                            nn::Linear<Cpu>(64, 2)};
  nn::Sequential<Cpu> critic{nn::Linear<Cpu>(4, 64), nn::Tanh<Cpu>(), nn::Linear<Cpu>(64, 64), nn::Tanh<Cpu>(),
                             nn::Linear<Cpu>(64, 1)};
  TERN_FIELDS(ActorCritic, actor, critic)
  std::pair<Tensor<Cpu>, Tensor<Cpu>> forward(const Tensor<Cpu>& x) {
    return {actor(x).log_softmax(-1), critic(x).squeeze({-1})};
  }
};

Tensor<Cpu> observe(const std::vector<CartPole>& environments) {
  auto x = empty<Cpu>({Index(environments.size()), 4});
  for (std::size_t i = 0; i < environments.size(); ++i) x[Index(i)] = from_blob<Cpu>(environments[i].state.data(), {4});
  return x;
}

int main() {
  manual_seed(2);
  const Index n = 16, length = 64;
  const double gamma = 0.99, lambda = 0.95, clip = 0.2;
  std::vector<CartPole> environments(n);
  for (Index i = 0; i < n; ++i) environments[i].random.seed(unsigned(i)), environments[i].reset();
  ActorCritic net;
  for (auto& [name, p] : net.named_parameters())
    if (p.dim() == 2) nn::init::orthogonal_(p, std::sqrt(2.0));
  optim::Adam adam(net.parameters(), {.lr = 2.5e-3, .eps = 1e-5});
  double first = 0, last = 0;
  for (int iteration = 0; iteration < 25; ++iteration) {
    auto states = zeros<Cpu>({length, n, 4}), rewards = ones<Cpu>({length, n}), ended = zeros<Cpu>({length, n});
    auto values = zeros<Cpu>({length + 1, n}), log_probabilities = zeros<Cpu>({length, n}),
         advantages = zeros<Cpu>({length, n});
    auto actions = zeros<Cpu, Index>({length, n});
    std::vector<double> returns;
    {
      NoGradGuard no_grad;
      for (Index t = 0; t < length; ++t) {
        states[t] = observe(environments);
        const auto [log_p, value] = net(states[t]);
        const auto action = multinomial(log_p.exp(), 1);
        log_probabilities[t] = log_p.gather(1, action).squeeze(1);
        actions[t] = action.squeeze(1);
        values[t] = value;
        for (Index i = 0; i < n; ++i)
          if (environments[i].step(action[i].item())) {
            ended[{t, i}] = 1;
            returns.push_back(environments[i].steps);
            environments[i].reset();
          }
      }
      values[length] = net(observe(environments)).second;
      auto advantage = zeros<Cpu>({n});
      for (Index t = length - 1; t >= 0; --t) {
        const auto goes_on = 1 - ended[t];
        const auto delta = rewards[t] + gamma * goes_on * values[t + 1] - values[t];
        advantages[t] = advantage = delta + gamma * lambda * goes_on * advantage;
      }
    }
    const auto targets = advantages + values[Slice({}, -1)];
    const double mean = tensor<Cpu>(returns).mean().item();
    (iteration == 0 ? first : last) = mean;
    const auto s = states.flatten(0, 1), old = log_probabilities.flatten(), target = targets.flatten();
    auto adv = advantages.flatten();
    const auto a = actions.flatten();
    adv = (adv - adv.mean()) / (adv.std() + 1e-8);
    for (int epoch = 0; epoch < 4; ++epoch)
      for (const auto& idx : randperm<Cpu>(n * length).split(256)) {
        const auto [log_p, value] = net(s[idx]);
        const auto ratio = (log_p.gather(1, a[idx].unsqueeze(1)).squeeze(1) - old[idx]).exp();
        const auto gain = minimum(ratio * adv[idx], ratio.clamp(1 - clip, 1 + clip) * adv[idx]).mean();
        const auto entropy = -(log_p.exp() * log_p).sum(1).mean();
        const auto loss = -gain + 0.5 * mse_loss(value, target[idx]) - 0.01 * entropy;
        adam.zero_grad();
        loss.backward();
        optim::clip_grad_norm_(net.parameters(), 0.5);
        adam.step();
      }
  }
  std::printf("mean return %.1f at first, %.1f at last\n", first, last);
  return first < 40 && last > 120 ? 0 : 1;
}
