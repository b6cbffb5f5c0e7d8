// A generator of images and a discriminator that tells them from drawn ones (DCGAN: Radford et al., 2016).
#include <tern/tern.hpp>
#include <iostream>
using namespace tern;

template <Device D>
struct Generator : nn::Module<D> {
  nn::Sequential<nn::ConvTranspose2d<D>, nn::BatchNorm2d<D>, nn::ReLU<D>, nn::ConvTranspose2d<D>, nn::BatchNorm2d<D>,
                 nn::ReLU<D>, nn::ConvTranspose2d<D>, nn::Tanh<D>>
      main;
  TERN_FIELDS(Generator, main)
  Generator(int nz, int ngf)
      : main(nn::ConvTranspose2d<D>(nz, ngf * 2, 4, {.bias = false}), nn::BatchNorm2d<D>(ngf * 2), nn::ReLU<D>(true),
             nn::ConvTranspose2d<D>(ngf * 2, ngf, 4, {.stride = 2, .padding = 1, .bias = false}),
             nn::BatchNorm2d<D>(ngf), nn::ReLU<D>(true),
             nn::ConvTranspose2d<D>(ngf, 1, 4, {.stride = 2, .padding = 1, .bias = false}), nn::Tanh<D>()) {}
  Tensor<D> forward(const Tensor<D>& z) { return main(z); }
};

template <Device D>
struct Discriminator : nn::Module<D> {
  nn::Conv2d<D> conv1, conv2, conv3;
  nn::BatchNorm2d<D> bn;
  TERN_FIELDS(Discriminator, conv1, conv2, conv3, bn)
  Discriminator(int ndf)
      : conv1(1, ndf, 4, 2, 1), conv2(ndf, ndf * 2, 4, {.stride = 2, .padding = 1, .bias = false}),
        conv3(ndf * 2, 1, 4), bn(ndf * 2) {}
  Tensor<D> forward(const Tensor<D>& x) {
    auto y = leaky_relu(conv1(x), 0.2);
    y = leaky_relu(bn(conv2(y)), 0.2);
    return sigmoid(conv3(y)).view(-1);
  }
};

template <class M>
void weights_init(M& net) {
  for (auto& [name, p] : net.named_parameters()) {
    if (name.find("bn") != std::string::npos && name.ends_with("weight")) nn::init::normal_(p, 1.0, 0.02);
    else if (name.ends_with("weight")) nn::init::normal_(p, 0.0, 0.02);
    else nn::init::zeros_(p);
  }
}

int main() {
  manual_seed(999);
  using D = Cpu;
  Generator<D> netG(16, 8);
  Discriminator<D> netD(8);
  weights_init(netG);
  weights_init(netD);
  std::cout << netG << netD << "\n";
  nn::BCELoss<D> criterion;
  optim::Adam optG(netG.parameters(), {.lr = 2e-4, .betas = {0.5, 0.999}}),
      optD(netD.parameters(), {.lr = 2e-4, .betas = {0.5, 0.999}});
  const auto fixed_noise = randn<D>({4, 16, 1, 1});
  std::vector<float> G_losses, D_losses;
  for (int i = 0; i < 30; i++) {
    netD.zero_grad();
    auto real = rand<D>({8, 1, 16, 16}) * 2 - 1;
    auto label = full<D>({real.size(0)}, 1.0);
    auto output = netD(real);
    auto errD_real = criterion(output, label);
    errD_real.backward();
    auto D_x = output.mean().item();
    auto noise = randn<D>({real.size(0), 16, 1, 1});
    auto fake = netG(noise);
    label.fill_(0);
    output = netD(fake.detach()).view(-1);
    auto errD_fake = criterion(output, label);
    errD_fake.backward();
    auto errD = errD_real + errD_fake;
    optD.step();
    netG.zero_grad();
    label.fill_(1);
    output = netD(fake);
    auto errG = criterion(output, label);
    errG.backward();
    optG.step();
    G_losses.push_back(errG.item());
    D_losses.push_back(errD.item());
    std::cout << "[" << i << "] Loss_D: " << errD.item() << " Loss_G: " << errG.item() << " D(x): " << D_x << std::endl;
  }
  netG.eval();
  NoGradGuard no_grad;
  auto img = netG(fixed_noise).detach().cpu();
  img = (img + 1) / 2;
  std::cout << img.sizes() << img.min().item() << " " << img.max().item() << "\n";
  // The discriminator has learned to tell them apart.
  const bool in_range = (img >= 0).all().item() && (img <= 1).all().item();
  return !(in_range && D_losses.back() < D_losses.front() - 0.1f);
}
