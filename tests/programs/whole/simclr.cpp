// An encoder learns from two distorted views of each image which of a batch belong together (SimCLR: Chen et al.,
// 2020).
#include <tern/tern.hpp>
#include <iostream>
#include <random>
using namespace tern;

class PairDataset {
 public:
  PairDataset(Tensor<Cpu> images, double noise) : images_(images), noise_(noise) {}
  std::pair<Tensor<Cpu>, Tensor<Cpu>> operator[](Index i) const {
    auto x = images_[i];
    return {augment(x), augment(x)};
  }
  Index size() const { return images_.size(0); }

 private:
  Tensor<Cpu> augment(const Tensor<Cpu>& x) const {
    auto y = x + noise_ * randn_like(x);
    if (rand<Cpu>({1}).item() < 0.5) y = flip(y, {-1});
    return y;
  }
  Tensor<Cpu> images_;
  double noise_;
};

struct Encoder : nn::Module<Cpu> {
  nn::Conv2d<Cpu> conv{1, 8, 3, {.stride = 2, .padding = 1}};
  nn::GroupNorm<Cpu> gn{2, 8};
  nn::Linear<Cpu> fc{8 * 16, 32}, proj{32, 16};
  TERN_FIELDS(Encoder, conv, gn, fc, proj)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    auto h = relu(gn(conv(x))).flatten(1);
    h = relu(fc(h));
    return normalize(proj(h), 2, 1);
  }
};

Tensor<Cpu> nt_xent(const Tensor<Cpu>& z1, const Tensor<Cpu>& z2, double temperature = 0.5) {
  const auto n = z1.size(0);
  auto z = cat({z1, z2}, 0);
  auto sim = mm(z, z.T()) / temperature;
  auto mask = eye<Cpu>(2 * n).to(kBool);
  sim = sim.masked_fill(mask, -1e9);
  auto targets = cat({arange<Cpu>(n, 2 * n), arange<Cpu>(0, n)});
  return cross_entropy(sim, targets);
}

int main() {
  manual_seed(0);
  Encoder encoder;
  auto images = rand<Cpu>({64, 1, 8, 8});
  auto loader = data::loader<Cpu>(data::collated(PairDataset(images, 0.05)),
                                  {.batch_size = 16, .shuffle = true, .num_workers = 0, .drop_last = true});
  optim::SGD optimizer(encoder.parameters(), 0.1, 0.9);
  float first = -1, last = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    float sum = 0;
    int k = 0;
    for (auto& [a, b] : loader) {
      auto loss = nt_xent(encoder(a), encoder(b));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item(), ++k;
    }
    last = sum / float(k);
    if (first < 0) first = last;
    std::cout << "epoch " << epoch << " " << last << "\n";
  }
  return last >= first;
}
