// GoogLeNet (Szegedy and others: "Going deeper with convolutions", 2014) with batch normalisation, and without its
// auxiliary heads.
#pragma once
#include "../nn/dropout.hpp"
#include "../nn/linear.hpp"
#include "inception.hpp"

namespace tern::inline TERN_BUILD::models {

struct GoogLeNetOptions {
  Index num_classes = 1000;
  double dropout = 0.2;
  bool transform_input = false;  // for images normalised with ImageNet's statistics; torchvision's weights need it
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
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> fc;
  bool transform_input;

  explicit GoogLeNet(const GoogLeNetOptions& options)
      : dropout(options.dropout), fc(1024, options.num_classes), transform_input(options.transform_input) {}
  TERN_FIELDS(GoogLeNet, conv1, conv2, conv3, inception3a, inception3b, inception4a, inception4b, inception4c,
              inception4d, inception4e, inception5a, inception5b, dropout, fc, transform_input)

  /// Images [N, 3, height, width] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    Tensor<D, T> x = pool(conv3(conv2(pool(conv1(transform_input ? renormalised(images) : images)))));
    x = pool(inception3b(inception3a(x)));
    x = inception4e(inception4d(inception4c(inception4b(inception4a(x)))));
    x = inception5b(inception5a(max_pool2d(x, 2, {.stride = 2, .ceil_mode = true})));
    return fc(dropout(adaptive_avg_pool2d(x, 1).flatten(1)));
  }

 private:
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
GoogLeNet<D, T> googlenet(GoogLeNetOptions options = {}) {
  return GoogLeNet<D, T>(options);
}

}  // namespace tern::models
