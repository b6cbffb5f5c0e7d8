// A variational autoencoder of pictures with one bar in one of 16 places.
#include <tern/tern.hpp>
#include <cmath>
#include <cstdio>
using namespace tern;

struct Output {
  Tensor<Cpu> logits, mean, log_variance;
};

struct VAE : nn::Module<Cpu> {
  nn::Linear<Cpu> hidden{64, 128}, mean{128, 2}, log_variance{128, 2};
  nn::Sequential<Cpu> decoder{nn::Linear<Cpu>(2, 128), nn::ReLU<Cpu>(), nn::Linear<Cpu>(128, 64)};
  TERN_FIELDS(VAE, hidden, mean, log_variance, decoder)

  Output forward(const Tensor<Cpu>& x) {
    const auto h = relu(hidden(x.flatten(1)));
    const auto m = mean(h), v = log_variance(h);
    const auto z = is_training() ? m + (0.5 * v).exp() * randn_like(m) : m;
    return {decoder(z).view(x.shape()), m, v};
  }
};

// The negative evidence lower bound, in nats a picture.
Tensor<Cpu> negative_elbo(const Output& out, const Tensor<Cpu>& x) {
  const auto reconstruction = binary_cross_entropy_with_logits(out.logits, x, {.reduction = Reduction::sum});
  const auto kl = -0.5 * (1 + out.log_variance - out.mean.square() - out.log_variance.exp()).sum();
  return (reconstruction + kl) / x.size(0);
}

int main() {
  manual_seed(0);
  auto pictures = zeros<Cpu>({16, 1, 8, 8});
  for (Index i = 0; i < 8; ++i) {
    pictures[{i, 0, i}] = 1;
    pictures[{8 + i, 0, Slice(), i}] = 1;
  }
  VAE net;
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  optim::CosineAnnealingLR schedule(adam, {.T_max = 4000});
  for (int step = 0; step < 4000; ++step) {
    const auto x = pictures[randint<Cpu, Index>(16, {64})];
    const auto loss = negative_elbo(net(x), x);
    adam.zero_grad();
    loss.backward();
    adam.step();
    schedule.step();
  }

  NoGradGuard no_grad;
  double bound = 0;  // with noise, over 100 draws of all pictures
  for (int i = 0; i < 100; ++i) bound += negative_elbo(net(pictures), pictures).item() / 100;
  net.eval();
  const auto restored = (net(pictures).logits > 0).to(f32);
  const auto drawn = (net.decoder(randn<Cpu>({200, 2})) > 0).to(f32);
  const auto distances = cdist(drawn, pictures.flatten(1), 1);
  const double like_one = (distances.amin(1) == 0).to(f32).mean().item();
  const bool all = equal(restored, pictures);
  std::printf("bound %.3f nats (entropy %.3f), all restored: %d, drawn as the data: %.2f\n", bound, std::log(16), all,
              like_one);
  return bound > std::log(16) - 0.05 && bound < 4.5 && all && like_one > 0.5 ? 0 : 1;
}
