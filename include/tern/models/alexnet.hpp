// AlexNet (Krizhevsky: "One weird trick for parallelizing convolutional neural networks", 2014).
#pragma once
#include "conv_stack.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct AlexNetOptions {
  Index num_classes = 1000;
  double dropout = 0.5;
};

/// For images of 3 x 224 x 224. Parameters have torchvision's names.
template <Device D, Element T = float>
ConvNet<D, T> alexnet(AlexNetOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  ConvStack<D, T> features(3);
  features.add(nn::Conv2d<D, T>(3, 64, 11, {.stride = 4, .padding = 2}), true);
  features.add(nn::Conv2d<D, T>(64, 192, 5, {.padding = 2}), true);
  features.add(nn::Conv2d<D, T>(192, 384, 3, {.padding = 1}), false);
  features.add(nn::Conv2d<D, T>(384, 256, 3, {.padding = 1}), false);
  features.add(nn::Conv2d<D, T>(256, 256, 3, {.padding = 1}), true);
  DenseStack<D, T> classifier({256 * 6 * 6, 4096, 4096, options.num_classes}, options.dropout, true);
  return ConvNet<D, T>(std::move(features), 6, std::move(classifier));
}

}}}  // namespace tern::models
