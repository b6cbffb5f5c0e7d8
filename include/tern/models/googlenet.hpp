// GoogLeNet (Szegedy and others: "Going deeper with convolutions", 2014) with batch normalisation.
#pragma once
#include <optional>

#include "../nn/dropout.hpp"
#include "../nn/linear.hpp"
#include "inception.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct GoogLeNetOptions {
  Index num_classes = 1000;
  double dropout = 0.2, dropout_aux = 0.7;
  bool aux_logits = false;       // auxiliary heads, for training
  bool transform_input = false;  // for images normalised with ImageNet's statistics; torchvision's weights need it
};

/// Scores of classes from the middle of the network, which bring gradients to its first layers.
template <Device D, Element T = float>
struct GoogLeNetAux : nn::Module<D, T> {
  ConvNorm<D, T> conv;
  nn::Linear<D, T> fc1{2048, 1024}, fc2;
  nn::Dropout<D, T> dropout;

  GoogLeNetAux(Index in, const GoogLeNetOptions& options)
      : conv(in, 128, 1, {}), fc2(1024, options.num_classes), dropout(options.dropout_aux) {}
  TERN_FIELDS(GoogLeNetAux, conv, fc1, fc2, dropout)

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    return fc2(dropout(relu(fc1(conv(adaptive_avg_pool2d(x, 4)).flatten(1)))));
  }
};

/// For images of 3 x 224 x 224. Parameters have torchvision's names.
template <Device D, Element T = float>
struct GoogLeNet : nn::Module<D, T> {
  using Block = InceptionBlock<D, T>;
  ConvNorm<D, T> conv1{3, 64, 7, {.stride = 2, .padding = 3}}, conv2{64, 64, 1, {}}, conv3{64, 192, 3, {.padding = 1}};
  Block inception3a = block(192, 64, 96, 128, 16, 32, 32), inception3b = block(256, 128, 128, 192, 32, 96, 64);
  Block inception4a = block(480, 192, 96, 208, 16, 48, 64), inception4b = block(512, 160, 112, 224, 24, 64, 64);
  Block inception4c = block(512, 128, 128, 256, 24, 64, 64), inception4d = block(512, 112, 144, 288, 32, 64, 64);
  Block inception4e = block(528, 256, 160, 320, 32, 128, 128), inception5a = block(832, 256, 160, 320, 32, 128, 128);
  Block inception5b = block(832, 384, 192, 384, 48, 128, 128);
  std::optional<GoogLeNetAux<D, T>> aux1, aux2;
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> fc;
  bool transform_input;
  static constexpr double aux_weight = 0.3;  // of the loss of each auxiliary head

  explicit GoogLeNet(const GoogLeNetOptions& options)
      : dropout(options.dropout), fc(1024, options.num_classes), transform_input(options.transform_input) {
    if (!options.aux_logits) return;
    aux1.emplace(512, options);
    aux2.emplace(528, options);
  }
  TERN_FIELDS(GoogLeNet, conv1, conv2, conv3, inception3a, inception3b, inception4a, inception4b, inception4c,
              inception4d, inception4e, inception5a, inception5b, aux1, aux2, dropout, fc, transform_input)

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) { return scores(images, nullptr); }
  /// The scores of aux1 and aux2 as well. Error without these heads.
  AuxScores<D, T> forward(const Tensor<D, T>& images, WithAux) {
    if (!aux1 || !aux2) Error::fail("GoogLeNet", {"has no auxiliary heads; it is made with .aux_logits = true"});
    AuxScores<D, T> all;
    all.logits = scores(images, &all.aux_logits);
    return all;
  }

 private:
  Tensor<D, T> scores(const Tensor<D, T>& images, std::vector<Tensor<D, T>>* aux) {
    Tensor<D, T> x = pool(conv3(conv2(pool(conv1(transform_input ? renormalised(images) : images)))));
    x = inception4a(pool(inception3b(inception3a(x))));
    if (aux) aux->push_back((*aux1)(x));
    x = inception4d(inception4c(inception4b(x)));
    if (aux) aux->push_back((*aux2)(x));
    x = inception5b(inception5a(max_pool2d(inception4e(x), 2, {.stride = 2, .ceil_mode = true})));
    return fc(dropout(adaptive_avg_pool2d(x, 1).flatten(1)));
  }
  static Tensor<D, T> pool(const Tensor<D, T>& x) { return max_pool2d(x, 3, {.stride = 2, .ceil_mode = true}); }
  /// Four branches: a 1 x 1 convolution; twice a 1 x 1 and a 3 x 3 convolution; a maximum and a 1 x 1 convolution.
  static Block block(Index in, Index ones, Index before_threes, Index threes, Index before_others, Index others,
                     Index pooled) {
    return Block(in, {{"branch1", From::input, ones},
                      {"branch2.0", From::input, before_threes},
                      {"branch2.1", From::previous, threes, 3},
                      {"branch3.0", From::input, before_others},
                      {"branch3.1", From::previous, others, 3},
                      {"branch4.1", From::maximum, pooled}});
  }
};

template <Device D, Element T = float>
GoogLeNet<D, T> googlenet(GoogLeNetOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return GoogLeNet<D, T>(options);
}

}}}  // namespace tern::models
