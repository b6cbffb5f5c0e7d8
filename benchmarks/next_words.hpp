// The word after each of texts [length, batch]: the network of PTB's rows.
#pragma once
#include <tern/tern.hpp>

template <tern::Device D, class Recurrent>
struct NextWords : tern::nn::Module<D> {
  tern::nn::Embedding<D> words{10000, 200};
  Recurrent recurrent{200, 200, {.num_layers = 2}};
  tern::nn::Linear<D> out{200, 10000};
  TERN_FIELDS(NextWords, words, recurrent, out)
  tern::Tensor<D> forward(const tern::Tensor<D, tern::Index>& texts) {
    return out(std::get<0>(recurrent(words(texts))).flatten(0, 1));
  }
};
