// A layer of a transformer's encoder.
#pragma once
#include "../ops/activations.hpp"
#include "../ops/dropout.hpp"
#include "attention.hpp"
#include "layer_norm.hpp"

namespace tern::inline TERN_BUILD::nn {

enum class TransformerActivation { relu, gelu };

struct TransformerEncoderLayerOptions {
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // normalise before each part instead of after its sum
  bool bias = true;
};

/// x ← norm1(x + attention(x)), then x ← norm2(x + linear2(f(linear1(x)))). With norm_first: x ← x +
/// attention(norm1(x)), then x ← x + linear2(f(linear1(norm2(x)))). Dropout follows each part and f.
template <Device D, Element T = float>
struct TransformerEncoderLayer : Module<D, T> {
  MultiheadAttention<D, T> self_attn;
  Linear<D, T> linear1, linear2;
  LayerNorm<D, T> norm1, norm2;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  bool norm_first = false;

  TransformerEncoderLayer(Index d_model, Index nhead, TransformerEncoderLayerOptions o = {})
      : self_attn(d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first}),
        linear1(d_model, o.dim_feedforward, {.bias = o.bias}),
        linear2(o.dim_feedforward, d_model, {.bias = o.bias}),
        norm1(d_model, {.eps = o.layer_norm_eps}),
        norm2(d_model, {.eps = o.layer_norm_eps}),
        dropout(o.dropout),
        activation(o.activation),
        norm_first(o.norm_first) {
    if (!o.bias) norm1.bias = norm2.bias = Parameter<D, T>();
  }
  TERN_FIELDS(TransformerEncoderLayer, self_attn, linear1, linear2, norm1, norm2, dropout, activation, norm_first)

  /// The mask has the form of MultiheadAttention's.
  template <class Mask = T>
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, Mask>& mask = {}, bool is_causal = false) const {
    const auto attended = [&](const Tensor<D, T>& v) { return dropped(self_attn.forward(v, v, v, mask, is_causal)); };
    if (norm_first) {
      const Tensor<D, T> y = x + attended(norm1.forward(x));
      return y + fed_forward(norm2.forward(y));
    }
    const Tensor<D, T> y = norm1.forward(x + attended(x));
    return norm2.forward(y + fed_forward(y));
  }

 private:
  Tensor<D, T> dropped(const Tensor<D, T>& x) const { return tern::dropout(x, dropout, this->is_training()); }
  Tensor<D, T> fed_forward(const Tensor<D, T>& x) const {
    const Tensor<D, T> hidden = linear1.forward(x);
    return dropped(linear2.forward(dropped(activation == TransformerActivation::relu ? relu(hidden) : gelu(hidden))));
  }
};

}  // namespace tern::nn
