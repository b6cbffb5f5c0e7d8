// VGG (Simonyan, Zisserman: "Very deep convolutional networks for large-scale image recognition", 2014).
#pragma once
#include "../nn/init.hpp"
#include "conv_stack.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct VggOptions {
  Index num_classes = 1000;
  double dropout = 0.5;
};

/// 13 convolutions and 3 dense layers, for images of 3 x 224 x 224. Parameters have torchvision's names.
template <Device D, Element T = float>
ConvNet<D, T> vgg16(VggOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  ConvStack<D, T> features(2);
  Index in = 3;
  for (const auto& [channels, convs] : {std::pair<Index, int>{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 1; i <= convs; ++i, in = channels) {
      nn::Conv2d<D, T> conv(in, channels, 3, {.padding = 1});
      nn::init::kaiming_normal_(conv.weight, {.mode = "fan_out"});
      nn::init::zeros_(conv.bias);
      features.add(std::move(conv), i == convs);
    }
  }
  DenseStack<D, T> classifier({512 * 7 * 7, 4096, 4096, options.num_classes}, options.dropout, false);
  for (auto& layer : classifier.layers) {
    nn::init::normal_(layer.weight, 0, 0.01);
    nn::init::zeros_(layer.bias);
  }
  return ConvNet<D, T>(std::move(features), 7, std::move(classifier));
}

}}}  // namespace tern::models
