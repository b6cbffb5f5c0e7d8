// What the networks for the digits of MNIST share. Each file includes what it uses: <tern/tern.hpp>, which has all layers, compiles longer.
#pragma once
#include <tern/nn/any_layer.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/grad_scaler.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/train/train.hpp>

#include "ranks.hpp"

using namespace tern;

/// Trains one of the networks with convolutions; one in 16 bits. They are compiled in files of their own, side by side, and return the
/// program's exit status.
int train_convolutional(const train::Options& options, const distributed::Communicator& world);
int train_in_16_bits(const train::Options& options, const distributed::Communicator& world);

/// A float network in the precision that it is trained in: here as it is.
inline constexpr auto in_float = [](auto net) { return net; };

/// A network of any class, so that what trains it is compiled once for a device and an element type (trainer.cpp).
template <Device D, class T>
struct AnyNet : nn::Module<D, T> {
  nn::AnyLayer<D, T> net;
  bool scaled;  // its layers compute in half, so its loss is scaled

  template <nn::IsModule Net>
  explicit AnyNet(Net any) : net(std::move(any)), scaled(train::computes_in_half<Net>) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.net);
  }
  TERN_NAMED_FIELDS(AnyNet, net, scaled)

  Tensor<D, T> forward(const Tensor<D, T>& images) const { return net(images); }
};

/// Trains a network, and returns the program's exit status.
template <Device D, class T>
int train_any(AnyNet<D, T> own, optim::Optimizer& optimizer, const train::Options& options, const distributed::Communicator& world);

template <class Net>
int train_network(Net net, optim::Optimizer& optimizer, const train::Options& options, const distributed::Communicator& world) {
  return train_any(AnyNet<typename Net::device_type, typename Net::value_type>(std::move(net)), optimizer, options, world);
}
