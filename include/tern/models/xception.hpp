// Xception (Chollet: "Xception: deep learning with depthwise separable convolutions", 2016).
#pragma once
#include "../nn/linear.hpp"
#include "../ops/activations.hpp"
#include "../ops/pooling.hpp"
#include "conv_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// A depthwise 3 x 3 convolution, then a 1 x 1 one.
template <Device D, Element T = float>
struct SeparableConv : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1, pointwise;

  SeparableConv(Index in, Index out)
      : conv1(conv<D, T>(in, in, 3, {.padding = 1, .groups = in})), pointwise(conv<D, T>(in, out, 1)) {}
  TERN_FIELDS(SeparableConv, conv1, pointwise)

  Tensor<D, T> forward(const Tensor<D, T>& x) { return pointwise(conv1(x)); }
};

/// f(x) + x. f has two or three separable convolutions with relu before each; the first block lacks the first relu. If
/// sizes differ, f ends with max pooling with stride 2, and x passes through a 1 x 1 convolution.
template <Device D, Element T = float>
struct XceptionBlock : nn::Module<D, T> {
  nn::Conv2d<D, T> skip;
  nn::BatchNorm2d<D, T> skipbn;
  std::vector<SeparableConv<D, T>> convs;
  std::vector<nn::BatchNorm2d<D, T>> norms;
  bool starts_with_relu = true;

  /// The channels of the input and after each convolution.
  XceptionBlock(std::initializer_list<Index> channels, bool relu_first) : starts_with_relu(relu_first) {
    const Index in = *channels.begin(), out = *(channels.end() - 1);
    if (in != out) {
      skip = conv<D, T>(in, out, 1, {.stride = 2});
      skipbn = nn::BatchNorm2d<D, T>(out);
    }
    for (const Index* c = channels.begin(); c + 1 != channels.end(); ++c) {
      convs.emplace_back(c[0], c[1]);
      norms.emplace_back(c[1]);
    }
  }
  /// timm's names: `rep` counts relu, convolution and normalisation in turn.
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("skip", self.skip), visit("skipbn", self.skipbn);
    Index place = self.starts_with_relu;
    for (std::size_t i = 0; i < self.convs.size(); ++i, place += 3) {
      visit(tern::detail::text({"rep.", place}).c_str(), self.convs[i]);
      visit(tern::detail::text({"rep.", place + 1}).c_str(), self.norms[i]);
    }
  }
  TERN_NAMED_FIELDS(XceptionBlock, skip, skipbn, convs, norms, starts_with_relu)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(skip, skipbn);
    for (std::size_t i = 0; i < convs.size(); ++i) visit(convs[i].pointwise, norms[i]);
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    Tensor<D, T> y = starts_with_relu ? relu(x) : x;
    for (std::size_t i = 0; i + 1 < convs.size(); ++i)
      y = nn::conv_bn_relu(convs[i].pointwise, norms[i], convs[i].conv1(y));
    y = norms.back()(convs.back()(y));
    return skip.weight.defined() ? max_pool2d(y, 3, {.stride = 2, .padding = 1}) + skipbn(skip(x)) : y + x;
  }
};

struct XceptionOptions {
  Index num_classes = 1000;
};

/// For images of 3 x 299 x 299. Parameters have the names of timm's legacy_xception.
template <Device D, Element T = float>
struct Xception : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1 = conv<D, T>(3, 32, 3, {.stride = 2}), conv2 = conv<D, T>(32, 64, 3);
  nn::BatchNorm2d<D, T> bn1{32}, bn2{64}, bn3{1536}, bn4{2048};
  std::vector<XceptionBlock<D, T>> blocks;
  SeparableConv<D, T> conv3{1024, 1536}, conv4{1536, 2048};
  nn::Linear<D, T> fc;

  explicit Xception(const XceptionOptions& options) : fc(2048, options.num_classes) {
    blocks.emplace_back(std::initializer_list<Index>{64, 128, 128}, false);
    blocks.emplace_back(std::initializer_list<Index>{128, 256, 256}, true);
    blocks.emplace_back(std::initializer_list<Index>{256, 728, 728}, true);
    for (int i = 0; i < 8; ++i) blocks.emplace_back(std::initializer_list<Index>{728, 728, 728, 728}, true);
    blocks.emplace_back(std::initializer_list<Index>{728, 728, 1024}, true);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("conv1", self.conv1), visit("bn1", self.bn1);
    visit("conv2", self.conv2), visit("bn2", self.bn2);
    for (std::size_t i = 0; i < self.blocks.size(); ++i)
      visit(tern::detail::text({"block", Index(i + 1)}).c_str(), self.blocks[i]);
    visit("conv3", self.conv3), visit("bn3", self.bn3);
    visit("conv4", self.conv4), visit("bn4", self.bn4);
    visit("fc", self.fc);
  }
  TERN_NAMED_FIELDS(Xception, conv1, conv2, bn1, bn2, bn3, bn4, blocks, conv3, conv4, fc)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(conv1, bn1), visit(conv2, bn2), visit(conv3.pointwise, bn3), visit(conv4.pointwise, bn4);
  }

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = nn::conv_bn_relu(conv2, bn2, nn::conv_bn_relu(conv1, bn1, images));
    for (XceptionBlock<D, T>& block : blocks) x = block(x);
    x = nn::conv_bn_relu(conv3.pointwise, bn3, conv3.conv1(x));
    x = nn::conv_bn_relu(conv4.pointwise, bn4, conv4.conv1(x));
    return fc(adaptive_avg_pool2d(x, 1).flatten(1));
  }
};

template <Device D, Element T = float>
Xception<D, T> xception(XceptionOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return Xception<D, T>(options);
}

}}}  // namespace tern::models
