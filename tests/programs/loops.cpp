// Training loops as users write them: Q-learning with a target network, a data set of one's own, a frozen body,
// gradients of several batches, an input that is optimised.
#include "programs/program.hpp"

#include <tern/data/collate.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adam.hpp>
#include <tern/optim/clip_grad.hpp>
#include <tern/optim/sgd.hpp>

namespace programs_loops {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  nn::Linear<D, T> body{4, 16}, head{16, 2};
  TERN_FIELDS(Mlp, body, head)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return head(relu(body(x))); }
};

/// Points on the line y = 2 x - 1.
struct Line {
  Index size() const { return 32; }
  std::tuple<Tensor<Cpu>, Tensor<Cpu>> operator[](Index i) const {
    const double x = double(i) / 16 - 1;
    return {full<Cpu>({1}, x), full<Cpu>({1}, 2 * x - 1)};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Q-learning: a target network, the values of the actions taken, and a replay memory", "[programs]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  // Four places in a row, one-hot. Action 1 goes right, 0 left. The last place is worth 1 and ends the episode.
  const Index count = 64;
  std::vector<double> from, action, to, reward, going_on;
  for (Index i = 0; i < count; ++i) {
    const Index place = i % 3, right = (i / 3) % 2;
    const Index next = right ? place + 1 : place > 0 ? place - 1 : 0;
    for (Index k = 0; k < 4; ++k) from.push_back(k == place), to.push_back(k == next);
    action.push_back(double(right)), reward.push_back(next == 3), going_on.push_back(next != 3);
  }
  const auto state = tensor_of<D, float>(from, {count, 4}), next_state = tensor_of<D, float>(to, {count, 4});
  const auto taken = tensor_of<D, Index>(action, {count, 1});
  const auto rewards = tensor_of<D, float>(reward), goes_on = tensor_of<D, float>(going_on);
  Mlp<D> net;
  auto target = net.clone();
  optim::Adam adam(net.parameters(), {.lr = 0.02});
  for (int step = 0; step < 60; ++step) {
    if (step % 5 == 0) target.load_state_dict(net.state_dict());
    const auto before = target.body.weight.clone();
    const auto rows = randint<D, Index>(0, count, {16});
    Tensor<D> wanted;
    {
      const NoGradGuard no_grad;
      wanted = rewards.index_select(0, rows) +
               0.5 * goes_on.index_select(0, rows) * target(next_state.index_select(0, rows)).amax(1);
    }
    const auto values = net(state.index_select(0, rows)).gather(1, taken.index_select(0, rows)).squeeze(1);
    const auto loss = smooth_l1_loss(values, wanted);
    adam.zero_grad();
    loss.backward();
    optim::clip_grad_norm_(net.parameters(), 1);
    adam.step();
    check_close(values_of(target.body.weight), values_of(before));
  }
  const NoGradGuard no_grad;
  const auto best = net(eye<Cpu>(4).slice(0, {0, 3}).to(state.device()));
  CHECK(values_of(best.argmax(1)) == std::vector<double>{1, 1, 1});
}

TEMPLATE_TEST_CASE("a data set of one's own is shuffled and batched", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  nn::Linear<D> net(1, 1);
  optim::SGD sgd(net.parameters(), {.lr = 0.3});
  auto batches = data::loader<D>(data::collated(Line()), {.batch_size = 8, .shuffle = true, .num_workers = 2});
  for (int epoch = 0; epoch < 10; ++epoch) {
    batches.set_epoch(epoch);
    for (auto& [x, y] : batches) {
      const auto loss = mse_loss(net(x), y);
      sgd.zero_grad();
      loss.backward();
      sgd.step();
    }
  }
  check_close(values_of(net.weight), {2}, 0, 0.02);
  check_close(values_of(net.bias), {-1}, 0, 0.02);
}

TEMPLATE_TEST_CASE("a frozen body stays as it is while the head learns", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Mlp<D> net;
  net.body.requires_grad_(false);
  const auto before = values_of(net.body.weight);
  const auto x = spread_tensor<D, float>({8, 4});
  const auto y = tensor_of<D, Index>({0, 1, 0, 1, 0, 1, 0, 1});
  optim::Adam adam(net.parameters(), {.lr = 0.05});
  const auto losses = train(adam, 10, [&] { return cross_entropy(net(x), y); });
  CHECK(losses.back() < losses.front());
  CHECK(values_of(net.body.weight) == before);
}

TEMPLATE_TEST_CASE("gradients of two half batches add up to that of the whole", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Mlp<D> net;
  const auto x = spread_tensor<D, float>({8, 4});
  const auto y = tensor_of<D, Index>({0, 1, 0, 1, 0, 1, 0, 1});
  cross_entropy(net(x), y).backward();
  const auto whole = values_of(net.body.weight.grad());
  net.zero_grad();
  for (Index half = 0; half < 2; ++half)
    (cross_entropy(net(x.narrow(0, 4 * half, 4)), y.narrow(0, 4 * half, 4)) / 2).backward();
  check_close(values_of(net.body.weight.grad()), whole, 1e-4, 1e-6);
}

TEMPLATE_TEST_CASE("an input is optimised against a network that stays as it is", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Mlp<D> net;
  net.requires_grad_(false);
  auto x = zeros<D>({1, 4});
  x.requires_grad_();
  const double before = net(x).select(1, 1).sum().item();
  for (int step = 0; step < 10; ++step) {
    const auto slope = grad(net(x).select(1, 1).sum(), x);
    const NoGradGuard no_grad;
    x += 0.5 * slope / slope.norm();
  }
  CHECK(net(x).select(1, 1).sum().item() > before);
}

}  // namespace programs_loops
