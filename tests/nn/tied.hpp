// A network with tied weights.
#pragma once
#include <tern/nn/linear.hpp>
#include <tern/nn/module.hpp>

namespace tern_test {

/// Encoder and decoder share one weight.
template <tern::Device D, class T = float>
struct Tied : tern::nn::Module<D, T> {
  tern::nn::Linear<D, T> encoder{3, 3}, decoder{3, 3};
  Tied() { decoder.weight = encoder.weight; }
  TERN_FIELDS(Tied, encoder, decoder)
  tern::Tensor<D, T> forward(const tern::Tensor<D, T>& x) { return decoder(encoder(x)); }
};

}  // namespace tern_test
