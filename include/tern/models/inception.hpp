// The parts of GoogLeNet and Inception-v3: blocks of several branches, whose results are concatenated.
#pragma once
#include "../ops/cat.hpp"
#include "../ops/pooling.hpp"
#include "conv_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// Images normalised with ImageNet's means and standard deviations, converted to a normalisation with 0.5 and 0.5. The
/// weights that torchvision publishes for these networks were trained with the latter.
template <class D, class T>
Tensor<D, T> renormalised(const Tensor<D, T>& images) {
  const auto channel = [&](Index c, double mean, double deviation) {
    return images.narrow(1, c, 1) * (deviation / 0.5) + (mean - 0.5) / 0.5;
  };
  return cat<D, T>({channel(0, 0.485, 0.229), channel(1, 0.456, 0.224), channel(2, 0.406, 0.225)}, 1);
}

/// Asks a network for the scores of its auxiliary heads too: net(images, models::with_aux).
struct WithAux {};
inline constexpr WithAux with_aux;

/// What a network with auxiliary heads computes in training: [N, classes] each. The loss is that of `logits`, and
/// aux_weight of the network times those of aux_logits.
template <Device D, Element T = float>
struct AuxScores {
  Tensor<D, T> logits;
  std::vector<Tensor<D, T>> aux_logits;
};

/// The input of a step of a block: the block's input, its average or maximum over 3 x 3, or an earlier step.
enum class From : unsigned char { input, average, maximum, previous, second_last };

/// A step of a block: a convolution with `channels` outputs, or without channels its input unchanged. A step that is no
/// other step's input is a part of the block's result.
struct BlockStep {
  const char* name;  // the layer's name
  From from;
  Index channels;
  tern::detail::Shape kernel = 1;  // {height, width}
  Index stride = 1;                // 1: the image keeps its size; 2: without padding
};

template <Device D, Element T = float>
struct InceptionBlock : nn::Module<D, T> {
  std::vector<BlockStep> steps;
  std::vector<ConvNorm<D, T>> layers;  // one for each step that has channels

  InceptionBlock(Index in, std::vector<BlockStep> plan) : steps(std::move(plan)) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const BlockStep& step = steps[i];
      if (step.channels == 0) continue;
      const auto padding = [&](Index size) { return step.stride == 1 ? size / 2 : 0; };
      layers.emplace_back(
          inputs(i, in), step.channels, step.kernel,
          nn::ConvLayerOptions{.stride = step.stride,
                               .padding = {padding(step.kernel[0]), padding(step.kernel[step.kernel.n - 1])}});
    }
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    auto layer = self.layers.begin();
    for (const BlockStep& step : self.steps)
      if (step.channels) visit(step.name, *layer++);
  }
  TERN_NAMED_FIELDS(InceptionBlock, steps, layers)

  /// The channels of the result for a block with `in` input channels.
  Index channels(Index in) const {
    Index sum = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (ends(i)) sum += steps[i].channels ? steps[i].channels : in;
    return sum;
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    std::vector<Tensor<D, T>> results, parts;
    auto layer = layers.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const BlockStep& step = steps[i];
      Tensor<D, T> y = x;
      if (step.from == From::average) y = avg_pool2d(x, 3, {.stride = 1, .padding = 1});
      if (step.from == From::maximum)  // a step without a convolution makes the image smaller
        y = max_pool2d(x, 3, {.stride = step.channels ? 1 : 2, .padding = step.channels ? 1 : 0});
      if (step.from == From::previous) y = results[i - 1];
      if (step.from == From::second_last) y = results[i - 2];
      results.push_back(step.channels ? (*layer++)(y) : y);
      if (ends(i)) parts.push_back(results.back());
    }
    return cat(parts, 1);
  }

 private:
  Index inputs(std::size_t i, Index in) const {
    if (steps[i].from == From::previous) return steps[i - 1].channels;
    if (steps[i].from == From::second_last) return steps[i - 2].channels;
    return in;
  }
  /// True if no other step takes step i as its input.
  bool ends(std::size_t i) const {
    return !(i + 1 < steps.size() && steps[i + 1].from == From::previous) &&
           !(i + 2 < steps.size() && steps[i + 2].from == From::second_last);
  }
};

}}}  // namespace tern::models
