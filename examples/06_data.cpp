// Lesson 6: data sets and loaders: batches in a new order each epoch, made ahead by worker threads.
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{784, 128}, out{128, 10};
  nn::Dropout<D, T> dropout{0.2};
  TERN_FIELDS(Net, hidden, out, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& images) { return out(dropout(relu(hidden(images.flatten(1))))); }
};

/// A data set is anything with a size and batches of chosen samples. This one moves another's pixels, 0 … 1 and most of
/// them 0, to a mean near 0, from which a network learns faster. Several threads call batch() at once: it changes
/// nothing.
struct Centred {
  data::Mnist pictures;

  Index size() const { return pictures.size(); }
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    const auto [images, labels] = pictures.batch(samples);
    return {(images - 0.1) / 0.3, labels};
  }
};

template <Device D, class Set>
double accuracy(Net<D>& net, const Set& set) {
  const InferenceMode inference;
  net.eval();  // dropout does nothing now
  double right = 0;
  for (const auto& [x, y] : data::loader<D>(set, {.batch_size = 500}))
    right += (net(x).argmax(1) == y).to(f32).sum().item();
  net.train();
  return right / double(set.size());
}

int main() {
  manual_seed(1);
  // Digits that the program draws itself, with random hands. data::Mnist::load(folder) reads the real ones.
  const Centred training{data::generated_digits(4000, /*seed=*/1)}, test{data::generated_digits(1000, /*seed=*/2)};

  Net<Cpu> net;
  optim::AdamW adam(net.parameters(), {.lr = 3e-3});
  auto batches = data::loader<Cpu>(training, {.batch_size = 64, .shuffle = true});
  optim::CosineAnnealingLR schedule(adam, {.T_max = 5});  // the learning rate falls to zero over five epochs

  for (int epoch = 1; epoch <= 5; ++epoch) {
    double loss_sum = 0;
    for (const auto& [x, y] : batches) {  // x: [64, 1, 28, 28], the last batch shorter
      const auto loss = cross_entropy(net(x), y);
      adam.zero_grad();
      loss.backward();
      adam.step();
      loss_sum += loss.item();
    }
    schedule.step();
    std::printf("epoch %d: loss %.3f\n", epoch, loss_sum / double(batches.size()));
  }

  const double right = accuracy<Cpu>(net, test);
  std::printf("%.1f%% of 1000 other digits are right; the loop waited %.3f s for batches\n", 100 * right,
              batches.seconds_waited());
  return right > 0.9 ? 0 : 1;
}
