// Lesson 5: a network and an optimiser: which of two spirals does a point of the plane belong to?
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

/// A network is a module: members that are layers, their list, and forward(). Written for any device and element type.
template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> first{2, 64}, second{64, 64}, out{64, 2};
  TERN_FIELDS(Net, first, second, out)  // from here come parameters(), state_dict(), to(), train() and the summary

  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(relu(second(relu(first(x))))); }
};

/// Points [2 n, 2] on two spirals that wind around each other, and the number of each point's spiral.
std::pair<Tensor<Cpu>, Tensor<Cpu, Index>> spirals(Index n) {
  const auto t = rand<Cpu>({n}).sqrt() * 6 + 0.5;  // the angle, and the distance from the middle
  const auto one = stack(std::vector{t * cos(t), t * sin(t)}, 1) / 6;
  const auto points = cat(std::vector{one, -one});
  return {points + 0.02 * randn<Cpu>({2 * n, 2}), cat(std::vector{zeros<Cpu, Index>({n}), ones<Cpu, Index>({n})})};
}

int main() {
  manual_seed(1);
  const auto [x, y] = spirals(500);

  Net<Cpu> net;
  std::printf("%s\n", summary(net).c_str());
  optim::Adam adam(net.parameters(), {.lr = 0.01});

  for (int step = 0; step <= 150; ++step) {
    const auto scores = net(x);                  // [1000, 2]: one score for each spiral
    const auto loss = cross_entropy(scores, y);  // softmax and the logarithm are part of it, as in PyTorch
    if (step % 50 == 0) std::printf("step %3d: loss %.4f\n", step, loss.item());
    adam.zero_grad();
    loss.backward();
    adam.step();
  }

  // Points that the network has not seen. Nothing is recorded in this mode, so nothing is kept for a backward pass.
  const InferenceMode inference;
  const auto [new_x, new_y] = spirals(500);
  const double accuracy = (net(new_x).argmax(1) == new_y).to(f32).mean().item();
  std::printf("%.1f%% of 1000 new points are right\n", 100 * accuracy);
  return accuracy > 0.95 ? 0 : 1;
}
