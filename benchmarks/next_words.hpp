// The network of PTB's rows, which three programs share.
#pragma once
#include <tern/tern.hpp>

/// Networks around one kind of recurrent layer. They are templates of device and element type alone, as nn::mixed asks.
template <template <tern::Device, tern::Element> class Recurrent>
struct Around {
  /// The word after each of texts [length, batch].
  template <tern::Device D, tern::Element T = float>
  struct NextWords : tern::nn::Module<D, T> {
    tern::nn::Embedding<D, T> words{10000, 200};
    Recurrent<D, T> recurrent{200, 200, {.num_layers = 2}};
    tern::nn::Linear<D, T> out{200, 10000};
    TERN_FIELDS(NextWords, words, recurrent, out)
    tern::Tensor<D, T> forward(const tern::Tensor<D, tern::Index>& texts) {
      return out(std::get<0>(recurrent(words(texts))).flatten(0, 1));
    }
  };
};
