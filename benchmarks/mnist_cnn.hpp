// Keras' network for MNIST: two convolutions, pooling, two dense layers.
#pragma once
#include <tern/tern.hpp>

template <tern::Device D>
struct MnistCnn : tern::nn::Module<D> {
  tern::nn::Conv2d<D> conv1{1, 32, 3}, conv2{32, 64, 3};
  tern::nn::Linear<D> dense{64 * 12 * 12, 128}, out{128, 10};
  TERN_FIELDS(MnistCnn, conv1, conv2, dense, out)
  tern::Tensor<D> forward(const tern::Tensor<D>& x) {
    const auto y = dropout(max_pool2d(relu(conv2(relu(conv1(x)))), 2), 0.25);
    return out(dropout(relu(dense(y.flatten(1))), 0.5));
  }
};
