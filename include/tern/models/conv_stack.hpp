// The parts of AlexNet and VGG: a stack of convolutions with relu and max pooling, and dense layers with dropout. A
// layer's name is its position among all steps, as in PyTorch's Sequential.
#pragma once
#include "../nn/convolution.hpp"
#include "../nn/linear.hpp"
#include "../ops/activations.hpp"
#include "../ops/dropout.hpp"
#include "../ops/pooling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// Convolutions, each with relu. Some are followed by max pooling with stride 2.
template <Device D, Element T = float>
struct ConvStack : nn::Module<D, T> {
  std::vector<nn::Conv2d<D, T>> convs;
  Index pooled = 0;  // bit i: pooling after convolution i
  Index window = 2;  // the pooling's kernel_size

  explicit ConvStack(Index pooling_window) : window(pooling_window) {}
  void add(nn::Conv2d<D, T> conv, bool pooling) {
    if (pooling) pooled |= Index(1) << convs.size();
    convs.push_back(std::move(conv));
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    Index place = 0;
    for (std::size_t i = 0; i < self.convs.size(); ++i) {
      visit(tern::detail::text({place}).c_str(), self.convs[i]);
      place += self.pooled >> i & 1 ? 3 : 2;
    }
  }
  TERN_NAMED_FIELDS(ConvStack, convs, pooled, window)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = images;
    for (std::size_t i = 0; i < convs.size(); ++i) {
      x = convs[i].relu(x);
      if (pooled >> i & 1) x = max_pool2d(x, window, {.stride = 2});
    }
    return x;
  }
};

/// Dense layers with relu in between. All but the last have dropout before (or after) them.
template <Device D, Element T = float>
struct DenseStack : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  double p = 0.5;  // of the dropout
  bool dropout_first = false;

  DenseStack(std::initializer_list<Index> sizes, double dropout, bool first) : p(dropout), dropout_first(first) {
    for (const Index* size = sizes.begin(); size + 1 != sizes.end(); ++size) layers.emplace_back(size[0], size[1]);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    for (std::size_t i = 0; i < self.layers.size(); ++i) {
      const bool ends = i + 1 == self.layers.size();
      visit(tern::detail::text({Index(3 * i + (self.dropout_first && !ends))}).c_str(), self.layers[i]);
    }
  }
  TERN_NAMED_FIELDS(DenseStack, layers, p, dropout_first)

  Tensor<D, T> forward(const Tensor<D, T>& features) {
    Tensor<D, T> x = features;
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
      if (dropout_first) x = dropout(x, p, this->is_training());
      x = relu(layers[i](x));
      if (!dropout_first) x = dropout(x, p, this->is_training());
    }
    return layers.back()(x);
  }
};

/// A ConvStack, adaptive average pooling to a fixed size, and a DenseStack.
template <Device D, Element T = float>
struct ConvNet : nn::Module<D, T> {
  ConvStack<D, T> features;
  Index grid = 1;
  DenseStack<D, T> classifier;

  ConvNet(ConvStack<D, T> stack, Index grid_size, DenseStack<D, T> dense)
      : features(std::move(stack)), grid(grid_size), classifier(std::move(dense)) {}
  TERN_FIELDS(ConvNet, features, grid, classifier)

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    return classifier(adaptive_avg_pool2d(features(images), grid).flatten(1));
  }
};

}}}  // namespace tern::models
