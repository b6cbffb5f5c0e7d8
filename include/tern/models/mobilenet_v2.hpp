// MobileNetV2 (Sandler and others: "MobileNetV2: inverted residuals and linear bottlenecks", 2018).
#pragma once
#include "../nn/dropout.hpp"
#include "../nn/linear.hpp"
#include "../ops/activations.hpp"
#include "../ops/pooling.hpp"
#include "conv_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// A convolution with relu6, or an inverted residual: a 1 x 1 convolution to more channels, a depthwise 3 x 3 one, and
/// a 1 x 1 one back to few channels, without relu6. Its result is added to x if the sizes are equal.
template <Device D, Element T = float>
struct MobileBlock : nn::Module<D, T> {
  std::vector<nn::Conv2d<D, T>> convs;
  std::vector<nn::BatchNorm2d<D, T>> norms;
  bool residual = false;

  MobileBlock(Index in, Index out, Index kernel, Index stride) {
    add(conv<D, T>(in, out, kernel, {.stride = stride, .padding = kernel / 2}), out);
  }
  MobileBlock(Index in, Index out, Index stride, Index expansion, bool add_input) : residual(add_input) {
    const Index wide = in * expansion;
    if (expansion != 1) add(conv<D, T>(in, wide, 1), wide);
    add(conv<D, T>(wide, wide, 3, {.stride = stride, .padding = 1, .groups = wide}), wide);
    add(conv<D, T>(wide, out, 1), out);
  }
  /// torchvision's names: "0", "1" for the plain convolution, else "conv.0.0", "conv.0.1", …, "conv.2", "conv.3".
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    const std::size_t last = self.convs.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      const Index place = Index(i);
      const std::string group = tern::detail::text({"conv.", place, "."});
      const bool plain = last == 0, ends = !plain && i == last;
      visit(plain ? "0" : ends ? tern::detail::text({"conv.", place}).c_str() : (group + "0").c_str(), self.convs[i]);
      visit(plain  ? "1"
            : ends ? tern::detail::text({"conv.", place + 1}).c_str()
                   : (group + "1").c_str(),
            self.norms[i]);
    }
  }
  TERN_NAMED_FIELDS(MobileBlock, convs, norms, residual)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    for (std::size_t i = 0; i < convs.size(); ++i) visit(convs[i], norms[i]);
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    Tensor<D, T> y = x;
    for (std::size_t i = 0; i < convs.size(); ++i) {
      y = norms[i](convs[i](y));
      if (i == 0 || i + 1 < convs.size()) y = relu6(y);
    }
    return residual ? x + y : y;
  }

 private:
  void add(nn::Conv2d<D, T> layer, Index channels) {
    convs.push_back(std::move(layer));
    norms.emplace_back(channels);
  }
};

struct MobileNetV2Options {
  Index num_classes = 1000;
  double dropout = 0.2;
};

/// For images of 3 x 224 x 224. Parameters have torchvision's names.
template <Device D, Element T = float>
struct MobileNetV2 : nn::Module<D, T> {
  std::vector<MobileBlock<D, T>> features;
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> classifier;

  explicit MobileNetV2(const MobileNetV2Options& options)
      : dropout(options.dropout), classifier(1280, options.num_classes) {
    struct Row {
      Index expansion, channels;
      int blocks;
      Index stride;
    };
    Index in = 32;
    features.emplace_back(3, in, 3, 2);
    for (const Row& row : {Row{1, 16, 1, 1},
                           {6, 24, 2, 2},
                           {6, 32, 3, 2},
                           {6, 64, 4, 2},
                           {6, 96, 3, 1},
                           {6, 160, 3, 2},
                           {6, 320, 1, 1}}) {
      for (int i = 0; i < row.blocks; ++i, in = row.channels)
        features.emplace_back(in, row.channels, i == 0 ? row.stride : 1, row.expansion, i > 0);
    }
    features.emplace_back(in, 1280, 1, 1);
    nn::init::normal_(classifier.weight, 0, 0.01);
    nn::init::zeros_(classifier.bias);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("features", self.features);
    visit("classifier.0", self.dropout), visit("classifier.1", self.classifier);
  }
  TERN_NAMED_FIELDS(MobileNetV2, features, dropout, classifier)

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = images;
    for (MobileBlock<D, T>& block : features) x = block(x);
    return classifier(dropout(adaptive_avg_pool2d(x, 1).flatten(1)));
  }
};

template <Device D, Element T = float>
MobileNetV2<D, T> mobilenet_v2(MobileNetV2Options options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return MobileNetV2<D, T>(options);
}

}}}  // namespace tern::models
