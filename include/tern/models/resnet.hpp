// Residual networks (He and others: "Deep residual learning for image recognition", 2015). Bottlenecks have
// torchvision's form, with the stride in the 3 x 3 convolution.
#pragma once
#include "../nn/linear.hpp"
#include "../nn/module_list.hpp"
#include "../ops/pooling.hpp"
#include "conv_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// relu(f(x) + x). f has two 3 x 3 convolutions, or a 3 x 3 one between two 1 x 1 ones. If sizes differ, x passes
/// through a 1 x 1 convolution.
template <Device D, Element T = float>
struct ResidualBlock : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1, conv2, conv3, downsample;  // the last two may be undefined
  nn::BatchNorm2d<D, T> bn1, bn2, bn3, downsample_bn;

  ResidualBlock(Index in, Index width, Index out, Index stride, bool bottleneck) : bn1(width), bn2(width) {
    conv1 = bottleneck ? conv<D, T>(in, width, 1) : conv<D, T>(in, width, 3, {.stride = stride, .padding = 1});
    conv2 = conv<D, T>(width, width, 3, {.stride = bottleneck ? stride : 1, .padding = 1});
    if (bottleneck) {
      conv3 = conv<D, T>(width, out, 1);
      bn3 = nn::BatchNorm2d<D, T>(out);
    }
    if (stride != 1 || in != out) {
      downsample = conv<D, T>(in, out, 1, {.stride = stride});
      downsample_bn = nn::BatchNorm2d<D, T>(out);
    }
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("conv1", self.conv1), visit("bn1", self.bn1);
    visit("conv2", self.conv2), visit("bn2", self.bn2);
    visit("conv3", self.conv3), visit("bn3", self.bn3);
    visit("downsample.0", self.downsample), visit("downsample.1", self.downsample_bn);
  }
  TERN_NAMED_FIELDS(ResidualBlock, conv1, conv2, conv3, downsample, bn1, bn2, bn3, downsample_bn)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(conv1, bn1), visit(conv2, bn2), visit(conv3, bn3), visit(downsample, downsample_bn);
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const Tensor<D, T> shortcut = downsample.weight.defined() ? downsample_bn(downsample(x)) : x;
    const Tensor<D, T> y = nn::conv_bn_relu(conv1, bn1, x);
    if (!conv3.weight.defined()) return nn::conv_bn_add_relu(conv2, bn2, y, shortcut);
    return nn::conv_bn_add_relu(conv3, bn3, nn::conv_bn_relu(conv2, bn2, y), shortcut);
  }
};

/// A convolution, four stages of blocks (three for small images), global average pooling, and a dense layer.
template <Device D, Element T = float>
struct ResNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1;
  nn::BatchNorm2d<D, T> bn1;
  bool pooled = true;  // max pooling after the first convolution
  nn::ModuleList<ResidualBlock<D, T>> layer1, layer2, layer3, layer4;
  nn::Linear<D, T> fc;

  struct Plan {
    std::initializer_list<int> blocks;  // in each stage
    Index width = 64;                   // of the first stage; each later one has twice as many channels
    bool bottleneck = false;            // blocks of three convolutions, with four times as many outputs
    bool small_images = false;
  };
  ResNet(const Plan& plan, Index num_classes) : bn1(plan.width), pooled(!plan.small_images) {
    conv1 = plan.small_images ? conv<D, T>(3, plan.width, 3, {.padding = 1})
                              : conv<D, T>(3, plan.width, 7, {.stride = 2, .padding = 3});
    nn::ModuleList<ResidualBlock<D, T>>* row = &layer1;
    Index in = plan.width, width = plan.width;
    for (const int count : plan.blocks) {
      const Index out = plan.bottleneck ? 4 * width : width;
      for (int i = 0; i < count; ++i, in = out)
        row->push_back(ResidualBlock<D, T>(in, width, out, i == 0 && row != &layer1 ? 2 : 1, plan.bottleneck));
      width *= 2;
      row = row == &layer1 ? &layer2 : row == &layer2 ? &layer3 : &layer4;
    }
    fc = nn::Linear<D, T>(in, num_classes);
  }
  TERN_FIELDS(ResNet, conv1, bn1, pooled, layer1, layer2, layer3, layer4, fc)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(conv1, bn1);
  }

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = nn::conv_bn_relu(conv1, bn1, images);
    if (pooled) x = max_pool2d(x, 3, {.stride = 2, .padding = 1});
    for (auto* row : {&layer1, &layer2, &layer3, &layer4})
      for (ResidualBlock<D, T>& block : *row) x = block(x);
    return fc(adaptive_avg_pool2d(x, 1).flatten(1));
  }
};

struct ResNetOptions {
  Index num_classes = 1000;
};

/// For images of 3 x 224 x 224. Parameters have torchvision's names.
template <Device D, Element T = float>
ResNet<D, T> resnet18(ResNetOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return ResNet<D, T>({.blocks = {2, 2, 2, 2}}, options.num_classes);
}
template <Device D, Element T = float>
ResNet<D, T> resnet50(ResNetOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return ResNet<D, T>({.blocks = {3, 4, 6, 3}, .bottleneck = true}, options.num_classes);
}

/// The small one for CIFAR, with images of 3 x 32 x 32, and 1 x 1 convolutions where sizes differ.
template <Device D, Element T = float>
ResNet<D, T> resnet20(Index num_classes = 10, CallSite here = {}) {
  const CallScope scope(here);
  return ResNet<D, T>({.blocks = {3, 3, 3}, .width = 16, .small_images = true}, num_classes);
}

}}}  // namespace tern::models
