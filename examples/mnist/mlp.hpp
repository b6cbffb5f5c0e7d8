// Networks of dense layers for the digits of MNIST.
#pragma once
#include "trainer.hpp"

/// Dense layers with relu, dropout after each but the last.
template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  nn::Dropout<D, T> dropout;

  Mlp(std::initializer_list<Index> sizes, double dropped) : dropout(dropped) {
    for (const Index* size = sizes.begin(); size + 1 != sizes.end(); ++size) layers.emplace_back(size[0], size[1]);
  }
  TERN_FIELDS(Mlp, layers, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    auto x = images.flatten(1);
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = dropout(relu(layers[i](x)));
    return layers.back()(x);
  }
};

/// in_precision makes the network that is trained of a float one.
template <Device D, class Precision>
int train_mlp(const train::Options& options, const distributed::Communicator& world, const Precision& in_precision) {
  manual_seed(std::uint64_t(options.seed));
  if (options.model == "mlp") {
    auto net = in_precision(Mlp<D>({784, 512, 512, 10}, 0.2));
    optim::RMSprop optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 1e-3});
    return train_network(std::move(net), optimizer, options, world);
  }
  auto net = in_precision(Mlp<D>({784, 128, 10}, 0));
  optim::SGD optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 0.1, .momentum = 0.9});
  return train_network(std::move(net), optimizer, options, world);
}
