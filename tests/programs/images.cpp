// Networks for images as users write them: U-Net, DenseNet, a variational autoencoder, a generative adversarial
// network.
#include "programs/program.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adam.hpp>
#include <tern/optim/sgd.hpp>

namespace programs_images {
using namespace tern_test;

namespace {

/// Two convolutions with normalisation and relu.
template <Device D, class T = float>
struct DoubleConv : nn::Module<D, T> {
  nn::Conv2d<D, T> a, b;
  nn::BatchNorm2d<D, T> norm_a, norm_b;
  DoubleConv(Index in, Index out)
      : a(in, out, 3, {.padding = 1}), b(out, out, 3, {.padding = 1}), norm_a(out), norm_b(out) {}
  TERN_FIELDS(DoubleConv, a, b, norm_a, norm_b)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return relu(norm_b(b(relu(norm_a(a(x)))))); }
};

/// Two levels with skip connections.
template <Device D, class T = float>
struct UNet : nn::Module<D, T> {
  DoubleConv<D, T> down1{1, 4}, down2{4, 8}, bottom{8, 16}, right2{16, 8}, right1{8, 4};
  nn::ConvTranspose2d<D, T> up2{16, 8, 2, {.stride = 2}}, up1{8, 4, 2, {.stride = 2}};
  nn::Conv2d<D, T> head{4, 1, 1};
  TERN_FIELDS(UNet, down1, down2, bottom, right2, right1, up2, up1, head)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const auto first = down1(x), second = down2(max_pool2d(first, 2));
    auto y = up2(bottom(max_pool2d(second, 2)));
    y = up1(right2(cat(std::vector{second, y}, 1)));
    return head(right1(cat(std::vector{first, y}, 1)));
  }
};

/// Each layer sees the outputs of all before it.
template <Device D, class T = float>
struct DenseBlock : nn::Module<D, T> {
  std::vector<nn::Conv2d<D, T>> layers;
  DenseBlock(Index in, Index growth, int depth) {
    for (int i = 0; i < depth; ++i) layers.emplace_back(in + i * growth, growth, 3, nn::ConvLayerOptions{.padding = 1});
  }
  TERN_FIELDS(DenseBlock, layers)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    std::vector<Tensor<D, T>> features{x};
    for (auto& layer : layers) features.push_back(relu(layer(cat(features, 1))));
    return cat(features, 1);
  }
};

template <Device D, class T = float>
struct DenseNet : nn::Module<D, T> {
  DenseBlock<D, T> block{1, 3, 3};
  nn::Linear<D, T> head{10, 2};
  TERN_FIELDS(DenseNet, block, head)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return head(adaptive_avg_pool2d(block(x), 1).flatten(1)); }
};

template <Device D, class T = float>
struct Autoencoder : nn::Module<D, T> {
  nn::Linear<D, T> hidden{16, 12}, mean{12, 2}, log_variance{12, 2}, back{2, 12}, out{12, 16};
  TERN_FIELDS(Autoencoder, hidden, mean, log_variance, back, out)
  std::pair<Tensor<D, T>, Tensor<D, T>> encode(const Tensor<D, T>& x) {
    const auto h = relu(hidden(x));
    return {mean(h), log_variance(h)};
  }
  Tensor<D, T> decode(const Tensor<D, T>& z) { return out(relu(back(z))); }
};

template <Device D, class T = float>
struct Generator : nn::Module<D, T> {
  nn::ConvTranspose2d<D, T> first{4, 6, 2}, second{6, 1, 2, {.stride = 2}};
  nn::BatchNorm2d<D, T> norm{6};
  TERN_FIELDS(Generator, first, second, norm)
  Tensor<D, T> forward(const Tensor<D, T>& z) { return tanh(second(relu(norm(first(z.view({-1, 4, 1, 1})))))); }
};

template <Device D, class T = float>
struct Discriminator : nn::Module<D, T> {
  nn::Conv2d<D, T> first{1, 6, 2, {.stride = 2}}, second{6, 1, 2};
  TERN_FIELDS(Discriminator, first, second)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return second(leaky_relu(first(x), 0.2)).flatten(); }
};

}  // namespace

TEMPLATE_TEST_CASE("a U-Net learns to mark the bright half of an image", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  UNet<D> net;
  const auto x = spread_tensor<D, float>({2, 1, 8, 8});
  const auto bright = (x > 0).to(f32);
  optim::Adam adam(net.parameters(), {.lr = 0.02});
  const auto losses = train(adam, 12, [&] { return binary_cross_entropy_with_logits(net(x), bright); });
  CHECK(losses.back() < 0.5 * losses.front());
  CHECK(net(x).shape() == tern::detail::Shape{2, 1, 8, 8});
}

TEMPLATE_TEST_CASE("a DenseNet's features are concatenated in a loop", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  DenseNet<D> net;
  const auto x = spread_tensor<D, float>({6, 1, 5, 5});
  CHECK(net.block(x).shape() == tern::detail::Shape{6, 10, 5, 5});
  const auto y = tensor_of<D, Index>({0, 1, 0, 1, 0, 1});
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto losses = train(sgd, 5, [&] { return cross_entropy(net(x), y); });
  CHECK(losses.back() < losses.front());
}

TEMPLATE_TEST_CASE("a variational autoencoder is trained through its random codes", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Autoencoder<D> net;
  const auto x = (spread_tensor<D, float>({16, 16}) > 0).to(f32);
  const auto divergence = [](const auto& mean, const auto& log_variance) {
    return (mean.square() + log_variance.exp() - log_variance - 1).sum() * 0.5;
  };
  CHECK(divergence(zeros<D>({3}), zeros<D>({3})).item() == 0);
  CHECK(divergence(full<D>({2}, 3), zeros<D>({2})).item() == 9);
  optim::Adam adam(net.parameters(), {.lr = 0.02});
  const auto losses = train(adam, 30, [&] {
    const auto [mean, log_variance] = net.encode(x);
    const auto z = mean + (log_variance * 0.5).exp() * randn_like(mean);
    return binary_cross_entropy_with_logits(net.decode(z), x, {.reduction = Reduction::sum}) +
           divergence(mean, log_variance);
  });
  CHECK(losses.back() < 0.9 * losses.front());
}

TEMPLATE_TEST_CASE("two optimisers train against each other; detach keeps the generator out of the other's step",
                   "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Generator<D> generator;
  Discriminator<D> discriminator;
  optim::Adam of_generator(generator.parameters(), {.lr = 1e-2, .betas = {0.5, 0.999}});
  optim::Adam of_discriminator(discriminator.parameters(), {.lr = 1e-2, .betas = {0.5, 0.999}});
  const auto real = spread_tensor<D, float>({8, 1, 4, 4}, 0.5, 1);
  std::vector<double> losses;
  for (int step = 0; step < 8; ++step) {
    const auto fake = generator(randn<D>({8, 4}));
    const auto judged_real = discriminator(real), judged_fake = discriminator(fake.detach());
    const auto loss = binary_cross_entropy_with_logits(judged_real, ones_like(judged_real)) +
                      binary_cross_entropy_with_logits(judged_fake, zeros_like(judged_fake));
    generator.zero_grad();
    of_discriminator.zero_grad();
    loss.backward();
    CHECK(!generator.first.weight.grad().defined());
    of_discriminator.step();
    losses.push_back(loss.item());

    const auto judged = discriminator(fake);
    binary_cross_entropy_with_logits(judged, ones_like(judged)).backward();
    CHECK(generator.first.weight.grad().defined());
    of_generator.step();
  }
  CHECK(losses.back() < losses.front());
}

}  // namespace programs_images
