// Networks with convolutions for the digits of MNIST.
#pragma once
#include <tern/nn/convolution.hpp>
#include <tern/nn/pooling.hpp>
#include <tern/optim/adadelta.hpp>

#include "trainer.hpp"

/// Two convolutions, one pooling, two dense layers.
template <Device D, class T = float>
struct Cnn : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 32, 3}, conv2{32, 64, 3};
  nn::Linear<D, T> dense{64 * 12 * 12, 128}, out{128, 10};
  TERN_FIELDS(Cnn, conv1, conv2, dense, out)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    const bool training = this->is_training();
    const auto x = dropout(max_pool2d(relu(conv2(relu(conv1(images)))), 2), 0.25, training);
    return out(dropout(relu(dense(x.flatten(1))), 0.5, training));
  }
};

/// PyTorch's example for these digits, after LeNet: two convolutions with pooling, two dense layers.
template <Device D, class T = float>
struct LeNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 10, 5}, conv2{10, 20, 5};
  nn::Linear<D, T> fc1{320, 50}, fc2{50, 10};
  TERN_FIELDS(LeNet, conv1, conv2, fc1, fc2)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    const bool training = this->is_training();
    auto x = relu(max_pool2d(conv1(images), 2));
    x = relu(max_pool2d(dropout2d(conv2(x), 0.5, training), 2));
    return fc2(dropout(relu(fc1(x.flatten(1))), 0.5, training));
  }
};

/// in_precision makes the network that is trained of a float one.
template <Device D, class Precision>
int train_cnn(const train::Options& options, const distributed::Communicator& world, const Precision& in_precision) {
  manual_seed(std::uint64_t(options.seed));
  if (options.model == "cnn") {
    auto net = in_precision(Cnn<D>());
    optim::Adadelta optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 1});
    return train_network(std::move(net), optimizer, options, world);
  }
  auto net = in_precision(LeNet<D>());
  optim::SGD optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 0.01, .momentum = 0.5});
  return train_network(std::move(net), optimizer, options, world);
}
