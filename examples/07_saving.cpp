// Lesson 7: saving and loading: weights for others to use, and checkpoints from which a training goes on bit for bit.
#include <tern/io/safetensors.hpp>
#include <tern/tern.hpp>
#include <tern/train/checkpoint.hpp>

#include <cstdio>

using namespace tern;

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 16}, out{16, 1};
  nn::Dropout<D, T> dropout{0.1};
  TERN_FIELDS(Net, hidden, out, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(tanh(hidden(x)))); }
};

/// Trains for some steps and returns the last loss.
double fit(Net<Cpu>& net, optim::Optimizer& optimizer, const Tensor<Cpu>& x, const Tensor<Cpu>& y, int steps) {
  Tensor<Cpu> loss;
  for (int step = 0; step < steps; ++step) {
    loss = mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return loss.item();
}

int main() {
  manual_seed(1);
  const auto x = randn<Cpu>({64, 4}), y = x.prod({1}, true);
  Net<Cpu> net;
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  fit(net, adam, x, y, 50);

  // A checkpoint holds what a training depends on: weights, the optimiser's moments, and the random numbers' state,
  // which dropout draws from. It appears under its name whole or not at all, even if the program ends meanwhile.
  train::save_checkpoint("lesson7_checkpoint.safetensors", net, adam);
  const double went_on = fit(net, adam, x, y, 50);

  // Another network, with other weights, takes up where the first was saved.
  Net<Cpu> other;
  optim::Adam other_adam(other.parameters(), {.lr = 0.01});
  train::load_checkpoint("lesson7_checkpoint.safetensors", other, other_adam);
  const double resumed = fit(other, other_adam, x, y, 50);
  std::printf("the loss after 50 more steps: %.9g; resumed: %.9g\n", went_on, resumed);

  // Weights alone: PyTorch's names, in a file that Python's safetensors reads too.
  net.eval();  // without dropout, the same input gives the same output
  for (const NamedTensor& entry : net.state_dict())
    std::printf("%-14s %lld numbers\n", entry.name.c_str(), (long long)entry.tensor.numel());
  io::save_safetensors("lesson7_weights.safetensors", net.state_dict());
  Net<Cpu> reader;
  reader.eval();
  reader.load_state_dict(io::load_safetensors("lesson7_weights.safetensors"));
  const bool same = (net(x) == reader(x)).all().item();
  std::printf("the network that read the file computes %s\n", same ? "the same" : "something else");

  std::remove("lesson7_checkpoint.safetensors");
  std::remove("lesson7_weights.safetensors");
  return went_on == resumed && same ? 0 : 1;
}
