// An actor and a critic with an LSTM's memory: what is asked for was shown three steps before.
#include <tern/tern.hpp>
#include <tern/distributions.hpp>
#include <cstdio>
#include <tuple>
#include <vector>
using namespace tern;
using distributions::Categorical;

template <Device D>
struct ActorCritic : nn::Module<D> {
  nn::LSTMCell<D> lstm{4, 32};
  nn::Linear<D> actor{32, 3}, critic{32, 1};
  TERN_FIELDS(ActorCritic, lstm, actor, critic)
  auto forward(const Tensor<D>& seen, const std::tuple<Tensor<D>, Tensor<D>>& state) {
    const auto [h, c] = lstm(seen, state);
    return std::make_tuple(actor(h), critic(h).squeeze(-1), std::make_tuple(h, c));
  }
};

int main() {
  manual_seed(11);
  ActorCritic<Cpu> net;
  optim::Adam opt(net.parameters(), 5e-3);
  optim::LinearLR schedule(opt, 1.0, 0.1, 150);
  const Index games = 64, steps = 4;
  float right = 0;
  for (int update = 0; update < 150; ++update) {
    const auto shown = randint<Cpu>(3, {games});
    auto state = std::make_tuple(zeros<Cpu>({games, 32}), zeros<Cpu>({games, 32}));
    std::vector<Tensor<Cpu>> log_probs, values, rewards, entropies;
    for (Index t = 0; t < steps; ++t) {
      auto seen = zeros<Cpu>({games, 4});
      if (t == 0) seen.scatter_(1, shown.unsqueeze(1), 1);
      if (t == steps - 1) seen.select(1, 3) = ones<Cpu>({games});
      const auto [logits, value, next] = net(seen, state);
      state = next;
      const Categorical<Cpu> choice({.logits = logits});
      const auto action = choice.sample();
      log_probs.push_back(choice.log_prob(action));
      entropies.push_back(choice.entropy());
      values.push_back(value);
      rewards.push_back(t == steps - 1 ? (action == shown).to(f32) : zeros<Cpu>({games}));
    }
    auto total = zeros<Cpu>({games});
    std::vector<Tensor<Cpu>> returns(steps);
    for (Index t = steps - 1; t >= 0; --t) returns[size_t(t)] = total = rewards[size_t(t)] + 0.9 * total;
    const auto gain = stack(returns) - stack(values);
    auto advantage = gain.detach();
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8);
    const auto loss =
        -(stack(log_probs) * advantage).mean() + 0.5 * gain.square().mean() - 0.01 * stack(entropies).mean();
    opt.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(net.parameters(), 0.5);
    opt.step();
    schedule.step();
    right = rewards.back().mean().item();
    if (update % 50 == 49)
      std::printf("update %d  right %.3f  lr %.2e\n", update + 1, right, schedule.get_last_lr()[0]);
  }
  return right < 0.9f;
}
