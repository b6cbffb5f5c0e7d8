// Inception-v3 (Szegedy and others: "Rethinking the Inception architecture for computer vision", 2015).
#pragma once
#include <optional>

#include "../nn/dropout.hpp"
#include "../nn/linear.hpp"
#include "inception.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct InceptionV3Options {
  Index num_classes = 1000;
  double dropout = 0.5;
  bool aux_logits = false;       // the auxiliary head, for training
  bool transform_input = false;  // for images normalised with ImageNet's statistics; torchvision's weights need it
};

namespace detail {

// The five kinds of block, with torchvision's names of layers.
TERN_API std::vector<BlockStep> inception_a(Index pooled);
TERN_API std::vector<BlockStep> inception_b();
TERN_API std::vector<BlockStep> inception_c(Index narrow);
TERN_API std::vector<BlockStep> inception_d();
TERN_API std::vector<BlockStep> inception_e();

}  // namespace detail

/// Scores of classes from the middle of the network, which bring gradients to its first layers.
template <Device D, Element T = float>
struct InceptionAux : nn::Module<D, T> {
  ConvNorm<D, T> conv0, conv1{128, 768, 5, {}};
  nn::Linear<D, T> fc;

  InceptionAux(Index in, Index num_classes) : conv0(in, 128, 1, {}), fc(768, num_classes) {}
  TERN_FIELDS(InceptionAux, conv0, conv1, fc)

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    return fc(adaptive_avg_pool2d(conv1(conv0(avg_pool2d(x, 5, {.stride = 3}))), 1).flatten(1));
  }
};

/// For images of 3 x 299 x 299. Parameters have torchvision's names.
template <Device D, Element T = float>
struct InceptionV3 : nn::Module<D, T> {
  using Block = InceptionBlock<D, T>;
  ConvNorm<D, T> Conv2d_1a_3x3{3, 32, 3, {.stride = 2}}, Conv2d_2a_3x3{32, 32, 3, {}},
      Conv2d_2b_3x3{32, 64, 3, {.padding = 1}};
  ConvNorm<D, T> Conv2d_3b_1x1{64, 80, 1, {}}, Conv2d_4a_3x3{80, 192, 3, {}};
  Block Mixed_5b{192, detail::inception_a(32)}, Mixed_5c{256, detail::inception_a(64)},
      Mixed_5d{288, detail::inception_a(64)};
  Block Mixed_6a{288, detail::inception_b()}, Mixed_6b{768, detail::inception_c(128)},
      Mixed_6c{768, detail::inception_c(160)};
  Block Mixed_6d{768, detail::inception_c(160)}, Mixed_6e{768, detail::inception_c(192)},
      Mixed_7a{768, detail::inception_d()};
  Block Mixed_7b{1280, detail::inception_e()}, Mixed_7c{2048, detail::inception_e()};
  std::optional<InceptionAux<D, T>> AuxLogits;
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> fc;
  bool transform_input;
  static constexpr double aux_weight = 0.4;  // of the auxiliary head's loss

  explicit InceptionV3(const InceptionV3Options& options)
      : dropout(options.dropout), fc(2048, options.num_classes), transform_input(options.transform_input) {
    if (options.aux_logits) AuxLogits.emplace(768, options.num_classes);
  }
  TERN_FIELDS(InceptionV3, Conv2d_1a_3x3, Conv2d_2a_3x3, Conv2d_2b_3x3, Conv2d_3b_1x1, Conv2d_4a_3x3, Mixed_5b,
              Mixed_5c, Mixed_5d, Mixed_6a, Mixed_6b, Mixed_6c, Mixed_6d, Mixed_6e, Mixed_7a, Mixed_7b, Mixed_7c,
              AuxLogits, dropout, fc, transform_input)

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) { return scores(images, nullptr); }
  /// The scores of AuxLogits as well. Error without this head.
  AuxScores<D, T> forward(const Tensor<D, T>& images, WithAux) {
    if (!AuxLogits) Error::fail("InceptionV3", {"has no auxiliary head; it is made with .aux_logits = true"});
    AuxScores<D, T> all;
    all.logits = scores(images, &all.aux_logits);
    return all;
  }

 private:
  Tensor<D, T> scores(const Tensor<D, T>& images, std::vector<Tensor<D, T>>* aux) {
    Tensor<D, T> x = transform_input ? renormalised(images) : images;
    x = max_pool2d(Conv2d_2b_3x3(Conv2d_2a_3x3(Conv2d_1a_3x3(x))), 3, {.stride = 2});
    x = max_pool2d(Conv2d_4a_3x3(Conv2d_3b_1x1(x)), 3, {.stride = 2});
    for (Block* block : {&Mixed_5b, &Mixed_5c, &Mixed_5d, &Mixed_6a, &Mixed_6b, &Mixed_6c, &Mixed_6d, &Mixed_6e})
      x = (*block)(x);
    if (aux) aux->push_back((*AuxLogits)(x));
    for (Block* block : {&Mixed_7a, &Mixed_7b, &Mixed_7c}) x = (*block)(x);
    return fc(dropout(adaptive_avg_pool2d(x, 1)).flatten(1));
  }
};

template <Device D, Element T = float>
InceptionV3<D, T> inception_v3(InceptionV3Options options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return InceptionV3<D, T>(options);
}

}}}  // namespace tern::models

#ifndef TERN_COMPILED
#include "inception_v3.ipp"
#endif
