// Q-learning with a replay memory and a slow target network (Mnih et al., 2015): a walker on a line learns to go home.
#include <tern/tern.hpp>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>
using namespace tern;

struct Transition {
  std::vector<float> state, next;
  int64_t action;
  float reward;
  bool done;
};

struct DQN : nn::Module<Cpu> {
  nn::Linear<Cpu> fc1, fc2, value, advantage;
  TERN_FIELDS(DQN, fc1, fc2, value, advantage)
  DQN(Index observations, Index actions) : fc1(observations, 32), fc2(32, 32), value(32, 1), advantage(32, actions) {}
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    const auto h = relu(fc2(relu(fc1(x))));
    const auto a = advantage(h);
    return value(h) + a - a.mean(1, true);
  }
};

int main() {
  manual_seed(0);
  std::mt19937 rng(0);
  std::uniform_real_distribution<float> uniform(-1, 1);
  DQN policy(2, 3), target(2, 3);
  target.load_state_dict(policy.state_dict());
  for (auto& p : target.parameters()) p.requires_grad_(false);
  optim::RMSprop optimizer(policy.parameters(), 1e-3);
  nn::SmoothL1Loss<Cpu> criterion;
  std::deque<Transition> memory;
  float place = 1, home = 0;
  for (int step = 0; step < 1500; ++step) {
    Transition t{{place, home}, {}, 0, 0, false};
    if (std::abs(uniform(rng)) < 0.2f) {
      t.action = randint<Cpu>(3, {1}).item();
    } else {
      NoGradGuard no_grad;
      t.action = policy(from_blob<Cpu>(t.state.data(), {1, 2})).argmax(1).item();
    }
    place += 0.1f * float(t.action - 1);
    t.reward = -std::abs(place - home);
    t.next = {place, home};
    t.done = std::abs(place - home) < 0.05f || std::abs(place) > 1.5f;
    memory.push_back(t);
    if (memory.size() > 1000) memory.pop_front();
    if (t.done || step % 30 == 29) place = uniform(rng), home = uniform(rng) / 2;
    if (memory.size() < 64) continue;

    std::vector<float> states, nexts, rewards, going;
    std::vector<int64_t> actions;
    for (int i = 0; i < 64; ++i) {
      const auto& m = memory[rng() % memory.size()];
      states.insert(states.end(), m.state.begin(), m.state.end());
      nexts.insert(nexts.end(), m.next.begin(), m.next.end());
      actions.push_back(m.action), rewards.push_back(m.reward), going.push_back(m.done ? 0.f : 1.f);
    }
    const auto s = tensor<Cpu>(states).view({64, 2}), next = tensor<Cpu>(nexts).view({64, 2});
    const auto q = policy(s).gather(1, tensor<Cpu>(actions).unsqueeze(1)).squeeze(1);
    Tensor<Cpu> expected;
    {
      NoGradGuard no_grad;
      const auto best = policy(next).argmax(1, true);
      expected = tensor<Cpu>(rewards) + 0.9 * target(next).gather(1, best).squeeze(1) * tensor<Cpu>(going);
    }
    const auto loss = criterion(q, expected);
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_value_(policy.parameters(), 1.0);
    optimizer.step();
    NoGradGuard no_grad;
    auto slow = target.parameters();
    auto fast = policy.parameters();
    for (size_t i = 0; i < slow.size(); ++i) slow[i].copy_(fast[i] * 0.02 + slow[i] * 0.98);
    if (step % 500 == 499) std::printf("step %d  loss %.4f  q %.3f\n", step + 1, loss.item(), q.mean().item());
  }
  // From the left of home it goes right, from the right left.
  NoGradGuard no_grad;
  const auto places = rand<Cpu>({200, 2}) - 0.5;
  const auto away = places.select(1, 1) - places.select(1, 0);
  const auto action = policy(places).argmax(1);
  const auto far = away.abs() > 0.15;
  const auto right = (action == (away > 0).to(i64) * 2)[far].to(f32).mean();
  std::printf("%.3f of %lld steps lead home\n", right.item(), static_cast<long long>(far.sum().item()));
  return right.item() < 0.85f;
}
