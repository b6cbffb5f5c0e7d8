// Lesson 10: a small transformer learns to sort digits: 3 1 4 1 5 9 in, 1 1 3 4 5 9 out.
#include <tern/tern.hpp>

#include <cstdio>

using namespace tern;

constexpr Index length = 6;

/// Each digit becomes a vector, to which the vector of its place is added; two encoder layers let every place look at
/// all others; a linear layer scores, for each place, which digit stands there once they are sorted.
template <Device D, class T = float>
struct Sorter : nn::Module<D, T> {
  nn::Embedding<D, T> digit{10, 32}, place{length, 32};
  std::vector<nn::TransformerEncoderLayer<D, T>> layers;  // a vector of layers is a field like any other
  nn::Linear<D, T> out{32, 10};

  explicit Sorter(int depth) {
    for (int i = 0; i < depth; ++i)
      layers.emplace_back(32, 4,
                          nn::TransformerEncoderLayerOptions{
                              .dim_feedforward = 64, .dropout = 0, .batch_first = true, .norm_first = true});
  }
  TERN_FIELDS(Sorter, digit, place, layers, out)

  Tensor<D, T> forward(const Tensor<D, Index>& digits) {  // [batch, length]
    auto x = digit(digits) + place.weight;                // [batch, length, 32]
    for (auto& layer : layers) x = layer(x);
    return out(x);  // [batch, length, 10]
  }
};

template <Device D>
bool lesson() {
  manual_seed(1);
  Sorter<D> net(2);
  optim::Adam adam(net.parameters());
  constexpr int steps = 300;
  optim::OneCycleLR schedule(adam, {.max_lr = 5e-3, .total_steps = steps});  // up, then down to nearly zero

  for (int step = 1; step <= steps; ++step) {
    const auto x = randint<D, Index>(10, {128, length});  // new ones in every step: nothing to learn by heart
    const auto y = x.sort(1).values;
    const auto loss = cross_entropy(net(x).flatten(0, 1), y.flatten());
    adam.zero_grad();
    loss.backward();
    optim::clip_grad_norm_(net.parameters(), 1);
    adam.step();
    schedule.step();
    if (step % 100 == 0) std::printf("step %d: loss %.4f\n", step, loss.item());
  }

  const InferenceMode inference;
  net.eval();
  const auto x = randint<D, Index>(10, {1000, length});
  const auto guess = net(x).argmax(2), y = x.sort(1).values;
  const double sorted = (guess == y).all(1).to(f32).mean().item();
  std::printf("%s\nbecomes\n%s\n", to_string(x.select(0, 0)).c_str(), to_string(guess.select(0, 0)).c_str());
  std::printf("%.1f%% of 1000 other rows are sorted without a mistake\n", 100 * sorted);
  return sorted > 0.9;
}

int main(int argc, char** argv) {
  // "cpu", "cuda", "cuda:1" or "auto": a name at run time, types from there on.
  return with_device(argc > 1 ? argv[1] : "cpu", []<Device D>(D) { return lesson<D>(); }) ? 0 : 1;
}
