// The dense networks for the digits of MNIST, and what trainer.cpp has: the training, the other networks, and those in
// 16 bits. Each file includes what it uses: <tern/tern.hpp>, which has all layers, compiles longer.
#pragma once
#include <tern/cuda.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/train/any_network.hpp>
#include <tern/train/train.hpp>

#include "ranks.hpp"

using namespace tern;

/// Trains a network, and returns the program's exit status.
template <Device D, class T>
int train_network(train::AnyNetwork<D, T> own, optim::Optimizer& optimizer, const train::Options& options,
                  const distributed::Communicator& world);

/// Trains what is not a dense network of floats, and returns the program's exit status.
int train_other(const train::Options& options, const distributed::Communicator& world);

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

/// convert(net, f) calls f with the network that is trained instead of a float one.
template <Device D, class Convert>
int train_mlp(const train::Options& options, const distributed::Communicator& world, const Convert& convert) {
  manual_seed(std::uint64_t(options.seed));
  const auto rate = [&](double usual) { return options.lr > 0 ? options.lr : usual; };
  if (options.model == "mlp")
    return convert(Mlp<D>({784, 512, 512, 10}, 0.2), [&](auto net) {
      optim::RMSprop optimizer(net.parameters(), {.lr = rate(1e-3)});
      return train_network(std::move(net), optimizer, options, world);
    });
  return convert(Mlp<D>({784, 128, 10}, 0), [&](auto net) {
    optim::SGD optimizer(net.parameters(), {.lr = rate(0.1), .momentum = 0.9});
    return train_network(std::move(net), optimizer, options, world);
  });
}
