// An autoencoder with max unpooling whose decoder shares the encoder's weights.
#include <tern/tern.hpp>
#include <cstdio>
using namespace tern;

struct AutoEncoder : nn::Module<Cpu> {
  nn::Conv2d<Cpu> conv1{1, 8, 3, {.padding = 1}}, conv2{8, 16, 3, {.padding = 1}};
  nn::MaxPool2d<Cpu> pool{2, {.stride = 2}};
  nn::MaxUnpool2d<Cpu> unpool{2, {.stride = 2}};
  nn::ConvTranspose2d<Cpu> deconv2{16, 8, 3, {.padding = 1}}, deconv1{8, 1, 3, {.padding = 1}};
  AutoEncoder() {
    deconv1.weight = conv1.weight;
    deconv2.weight = conv2.weight;
    for (auto& [name, p] : named_parameters())
      if (p.dim() > 1) nn::init::kaiming_normal_(p, {.mode = nn::init::FanMode::fan_in, .nonlinearity = "relu"});
      else nn::init::zeros_(p);
  }
  TERN_FIELDS(AutoEncoder, conv1, conv2, pool, unpool, deconv2, deconv1)

  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    const auto [h1, at1] = pool.forward_with_indices(relu(conv1(x)));
    const auto [h2, at2] = pool.forward_with_indices(relu(conv2(h1)));
    auto y = unpool(h2, at2, h1.sizes());
    y = relu(deconv2(y));
    y = unpool(y, at1, x.sizes());
    return sigmoid(deconv1(y));
  }
};

int main() {
  manual_seed(0);
  AutoEncoder net;
  Index count = 0;
  for (const auto& p : net.parameters()) count += p.numel();
  std::printf("%lld parameters\n", (long long)count);
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  const auto data = (rand<Cpu>({64, 1, 15, 15}) > 0.8).to(f32);
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    net.train();
    double total = 0;
    const auto order = randperm<Cpu>(data.size(0));
    for (const auto& index : order.split(16)) {
      const auto x = data[index];
      opt.zero_grad();
      const auto y = net(x);
      const auto loss = mse_loss(y, x);
      loss.backward();
      opt.step();
      total += loss.item<double>() * double(x.size(0));
    }
    last = total / double(data.size(0));
    if (epoch == 0) first = last;
  }
  std::printf("loss %.4f -> %.4f\n", first, last);
  const bool tied = net.conv1.weight.data() == net.deconv1.weight.data();
  const auto copy = net.clone();
  const bool still = copy.conv1.weight.data() == copy.deconv1.weight.data();
  net.eval();
  InferenceMode inference;
  const auto restored = net(data) > 0.5;
  const double right = (restored == (data > 0.5)).to(f32).mean().item<double>();
  std::printf("right %.3f, tied %d %d\n", right, tied, still);
  return last < 0.5 * first && tied && still && right > 0.9 ? 0 : 1;
}
