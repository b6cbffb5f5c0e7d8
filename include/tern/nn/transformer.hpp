// The layers of a transformer's encoder and decoder, stacks of them, and both stacks together.
#pragma once
#include "../core/choice.hpp"
#include "../ops/activations.hpp"
#include "../ops/dropout.hpp"
#include "attention.hpp"
#include "init.hpp"
#include "layer_norm.hpp"
#include "transformer_masks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

enum class TransformerActivation { relu, gelu };

namespace detail {
using ActivationChoice = tern::detail::Choice<TransformerActivation, "relu", "gelu">;
}

struct TransformerLayerOptions {
  tern::detail::ByName by_name{};
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  detail::ActivationChoice activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // normalise before each part instead of after its sum
  bool bias = true;
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

namespace detail {

template <class D, class T>
MultiheadAttention<D, T> attention_of(Index d_model, Index nhead, const TransformerLayerOptions& o,
                                      const CallSite& here) {
  return MultiheadAttention<D, T>(d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first},
                                  here);
}
template <class D, class T>
LayerNorm<D, T> norm_of(Index d_model, const TransformerLayerOptions& o, const CallSite& here) {
  return LayerNorm<D, T>(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}, here);
}
/// The layer's dropout.
template <class L, class X>
X dropped(const L& layer, const X& x) {
  return dropout(x, layer.dropout, layer.is_training());
}
/// norm(x + part(x)), or with norm_first x + part(norm(x)).
template <class L, class X, class Norm, class Part>
X residual(const L& layer, const X& x, const Norm& norm, const Part& part) {
  return layer.norm_first ? x + part(norm(x)) : norm(x + part(x));
}
/// The residual of linear2(f(linear1(x))), with dropout after f and at the end.
template <class L, class X, class Norm>
X fed_forward(const L& layer, const X& x, const Norm& norm) {
  return residual(layer, x, norm, [&](const X& v) {
    const X hidden = layer.linear1(v);
    const X active = layer.activation == TransformerActivation::relu ? relu(hidden) : gelu(hidden);
    return dropped(layer, layer.linear2(dropped(layer, active)));
  });
}
/// Copies of one layer.
template <class L>
std::vector<L> clones(const L& layer, Index count, const CallSite& here) {
  if (count < 1) Error::fail({"Transformer", here}, {"num_layers must be positive, not ", count});
  std::vector<L> layers;
  layers.reserve(std::size_t(count));
  for (Index i = 0; i < count; ++i) layers.push_back(layer.clone());
  return layers;
}

}  // namespace detail

/// x ← norm1(x + attention(x)), then x ← norm2(x + linear2(f(linear1(x)))). With norm_first: x ← x +
/// attention(norm1(x)), then x ← x + linear2(f(linear1(norm2(x)))). Dropout follows each part and f.
template <Device D, Element T = float>
struct TransformerEncoderLayer : ModuleOf<TransformerEncoderLayer<D, T>, D, T> {
  MultiheadAttention<D, T> self_attn;
  Linear<D, T> linear1, linear2;
  LayerNorm<D, T> norm1, norm2;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  bool norm_first = false;

  TransformerEncoderLayer(Index d_model, Index nhead, const TransformerEncoderLayerOptions& o = {}, CallSite here = {})
      : self_attn(detail::attention_of<D, T>(d_model, nhead, o, here)),
        linear1(d_model, o.dim_feedforward, {.bias = o.bias}, here),
        linear2(o.dim_feedforward, d_model, {.bias = o.bias}, here), norm1(detail::norm_of<D, T>(d_model, o, here)),
        norm2(detail::norm_of<D, T>(d_model, o, here)), dropout(o.dropout), activation(o.activation),
        norm_first(o.norm_first) {}
  TransformerEncoderLayer(Index d_model, Index nhead, tern::detail::Positional<Index> dim_feedforward,
                          tern::detail::RealNumber p = 0.1,
                          detail::ActivationChoice function = TransformerActivation::relu,
                          tern::detail::RealNumber layer_norm_eps = 1e-5,
                          tern::detail::Positional<bool> batch_first = false,
                          tern::detail::Positional<bool> before = false, tern::detail::Positional<bool> bias = true,
                          CallSite here = {})
      : TransformerEncoderLayer(d_model, nhead,
                                {.dim_feedforward = dim_feedforward,
                                 .dropout = p,
                                 .activation = function,
                                 .layer_norm_eps = layer_norm_eps,
                                 .batch_first = batch_first,
                                 .norm_first = before,
                                 .bias = bias},
                                here) {}
  TERN_LAYER(TransformerEncoderLayer, self_attn, linear1, linear2, norm1, norm2, dropout, activation, norm_first)
  using TransformerEncoderLayer::ModuleOf::operator();

  Tensor<D, T> forward(const Tensor<D, T>& src, const TransformerEncoderLayerMasks<D>& masks = {},
                       CallSite here = {}) const {
    const CallScope scope(here);
    const auto attended = [&](const Tensor<D, T>& v) {
      return detail::dropped(*this, self_attn(v, v, v,
                                              {.key_padding_mask = masks.src_key_padding_mask,
                                               .attn_mask = masks.src_mask,
                                               .is_causal = masks.is_causal}));
    };
    return detail::fed_forward(*this, detail::residual(*this, src, norm1, attended), norm2);
  }
  template <class Mask = T>
  Tensor<D, T> forward(const Tensor<D, T>& src, const Tensor<D, Mask>& src_mask,
                       const Tensor<D, bool>& src_key_padding_mask = {}, bool is_causal = false,
                       CallSite here = {}) const {
    return forward(src, {.src_mask = src_mask, .src_key_padding_mask = src_key_padding_mask, .is_causal = is_causal},
                   here);
  }
  template <class X>
  auto operator()(const X& src, const TransformerEncoderLayerMasks<D>& masks, CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, src, masks);
  }
};

/// x ← norm1(x + attention(x)), then x ← norm2(x + attention from x to memory), then x ← norm3(x +
/// linear2(f(linear1(x)))), where memory is an encoder's output. With norm_first each part is applied to the normalised
/// x, and the sum is not normalised. Dropout follows each part and f.
template <Device D, Element T = float>
struct TransformerDecoderLayer : ModuleOf<TransformerDecoderLayer<D, T>, D, T> {
  MultiheadAttention<D, T> self_attn, multihead_attn;
  Linear<D, T> linear1, linear2;
  LayerNorm<D, T> norm1, norm2, norm3;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  bool norm_first = false;

  TransformerDecoderLayer(Index d_model, Index nhead, const TransformerDecoderLayerOptions& o = {}, CallSite here = {})
      : self_attn(detail::attention_of<D, T>(d_model, nhead, o, here)),
        multihead_attn(detail::attention_of<D, T>(d_model, nhead, o, here)),
        linear1(d_model, o.dim_feedforward, {.bias = o.bias}, here),
        linear2(o.dim_feedforward, d_model, {.bias = o.bias}, here), norm1(detail::norm_of<D, T>(d_model, o, here)),
        norm2(detail::norm_of<D, T>(d_model, o, here)), norm3(detail::norm_of<D, T>(d_model, o, here)),
        dropout(o.dropout), activation(o.activation), norm_first(o.norm_first) {}
  TransformerDecoderLayer(Index d_model, Index nhead, tern::detail::Positional<Index> dim_feedforward,
                          tern::detail::RealNumber p = 0.1,
                          detail::ActivationChoice function = TransformerActivation::relu,
                          tern::detail::RealNumber layer_norm_eps = 1e-5,
                          tern::detail::Positional<bool> batch_first = false,
                          tern::detail::Positional<bool> before = false, tern::detail::Positional<bool> bias = true,
                          CallSite here = {})
      : TransformerDecoderLayer(d_model, nhead,
                                {.dim_feedforward = dim_feedforward,
                                 .dropout = p,
                                 .activation = function,
                                 .layer_norm_eps = layer_norm_eps,
                                 .batch_first = batch_first,
                                 .norm_first = before,
                                 .bias = bias},
                                here) {}
  TERN_LAYER(TransformerDecoderLayer, self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3, dropout,
             activation, norm_first)
  using TransformerDecoderLayer::ModuleOf::operator();

  Tensor<D, T> forward(const Tensor<D, T>& tgt, const Tensor<D, T>& memory,
                       const TransformerDecoderMasks<D>& masks = {}, CallSite here = {}) const {
    const CallScope scope(here);
    const auto attended = [&](const Tensor<D, T>& v) {
      return detail::dropped(*this, self_attn(v, v, v,
                                              {.key_padding_mask = masks.tgt_key_padding_mask,
                                               .attn_mask = masks.tgt_mask,
                                               .is_causal = masks.tgt_is_causal}));
    };
    const auto looked_up = [&](const Tensor<D, T>& v) {
      return detail::dropped(*this, multihead_attn(v, memory, memory,
                                                   {.key_padding_mask = masks.memory_key_padding_mask,
                                                    .attn_mask = masks.memory_mask,
                                                    .is_causal = masks.memory_is_causal}));
    };
    const Tensor<D, T> y = detail::residual(*this, tgt, norm1, attended);
    return detail::fed_forward(*this, detail::residual(*this, y, norm2, looked_up), norm3);
  }
  template <class TgtMask = T, class MemoryMask = T>
  Tensor<D, T> forward(const Tensor<D, T>& tgt, const Tensor<D, T>& memory, const Tensor<D, TgtMask>& tgt_mask,
                       const Tensor<D, MemoryMask>& memory_mask = {}, const Tensor<D, bool>& tgt_key_padding_mask = {},
                       const Tensor<D, bool>& memory_key_padding_mask = {}, bool tgt_is_causal = false,
                       bool memory_is_causal = false, CallSite here = {}) const {
    return forward(tgt, memory,
                   detail::decoder_masks(tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                                         tgt_is_causal, memory_is_causal),
                   here);
  }
  template <class X, class Memory>
  auto operator()(const X& tgt, const Memory& memory, const TransformerDecoderMasks<D>& masks,
                  CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, tgt, memory, masks);
  }
};

/// num_layers copies of a layer, one after the other, then norm if there is one.
template <Device D, Element T = float>
struct TransformerEncoder : ModuleOf<TransformerEncoder<D, T>, D, T> {
  std::vector<TransformerEncoderLayer<D, T>> layers;
  std::optional<LayerNorm<D, T>> norm;

  TransformerEncoder(const TransformerEncoderLayer<D, T>& layer, Index num_layers,
                     std::optional<LayerNorm<D, T>> last = {}, CallSite here = {})
      : layers(detail::clones(layer, num_layers, here)), norm(std::move(last)) {}
  TERN_LAYER(TransformerEncoder, layers, norm)
  using TransformerEncoder::ModuleOf::operator();

  /// The masks are the same for each layer.
  Tensor<D, T> forward(const Tensor<D, T>& src, const TransformerEncoderMasks<D>& masks = {},
                       CallSite here = {}) const {
    const CallScope scope(here);
    const TransformerEncoderLayerMasks<D> of_layer{
        .src_mask = masks.mask, .src_key_padding_mask = masks.src_key_padding_mask, .is_causal = masks.is_causal};
    Tensor<D, T> x = src;
    for (const auto& layer : layers) x = layer(x, of_layer);
    return norm ? (*norm)(x) : x;
  }
  template <class Mask = T>
  Tensor<D, T> forward(const Tensor<D, T>& src, const Tensor<D, Mask>& mask,
                       const Tensor<D, bool>& src_key_padding_mask = {}, bool is_causal = false,
                       CallSite here = {}) const {
    return forward(src, {.mask = mask, .src_key_padding_mask = src_key_padding_mask, .is_causal = is_causal}, here);
  }
  template <class X>
  auto operator()(const X& src, const TransformerEncoderMasks<D>& masks, CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, src, masks);
  }
};

/// num_layers copies of a layer, one after the other, then norm if there is one. Each layer sees the same memory.
template <Device D, Element T = float>
struct TransformerDecoder : ModuleOf<TransformerDecoder<D, T>, D, T> {
  std::vector<TransformerDecoderLayer<D, T>> layers;
  std::optional<LayerNorm<D, T>> norm;

  TransformerDecoder(const TransformerDecoderLayer<D, T>& layer, Index num_layers,
                     std::optional<LayerNorm<D, T>> last = {}, CallSite here = {})
      : layers(detail::clones(layer, num_layers, here)), norm(std::move(last)) {}
  TERN_LAYER(TransformerDecoder, layers, norm)
  using TransformerDecoder::ModuleOf::operator();

  /// The masks are the same for each layer.
  Tensor<D, T> forward(const Tensor<D, T>& tgt, const Tensor<D, T>& memory,
                       const TransformerDecoderMasks<D>& masks = {}, CallSite here = {}) const {
    const CallScope scope(here);
    Tensor<D, T> x = tgt;
    for (const auto& layer : layers) x = layer(x, memory, masks);
    return norm ? (*norm)(x) : x;
  }
  template <class TgtMask = T, class MemoryMask = T>
  Tensor<D, T> forward(const Tensor<D, T>& tgt, const Tensor<D, T>& memory, const Tensor<D, TgtMask>& tgt_mask,
                       const Tensor<D, MemoryMask>& memory_mask = {}, const Tensor<D, bool>& tgt_key_padding_mask = {},
                       const Tensor<D, bool>& memory_key_padding_mask = {}, bool tgt_is_causal = false,
                       bool memory_is_causal = false, CallSite here = {}) const {
    return forward(tgt, memory,
                   detail::decoder_masks(tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                                         tgt_is_causal, memory_is_causal),
                   here);
  }
  template <class X, class Memory>
  auto operator()(const X& tgt, const Memory& memory, const TransformerDecoderMasks<D>& masks,
                  CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, tgt, memory, masks);
  }
};

struct TransformerOptions {
  tern::detail::ByName by_name{};
  Index num_encoder_layers = 6, num_decoder_layers = 6;
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  detail::ActivationChoice activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;

  TransformerLayerOptions layer() const {
    return {.dim_feedforward = dim_feedforward,
            .dropout = dropout,
            .activation = activation,
            .layer_norm_eps = layer_norm_eps,
            .batch_first = batch_first,
            .norm_first = norm_first,
            .bias = bias};
  }
};

/// decoder(tgt, encoder(src)), each a stack of layers with a norm (Vaswani et al.: "Attention is all you need", 2017).
/// The weights are drawn by xavier_uniform_.
template <Device D, Element T = float>
struct Transformer : ModuleOf<Transformer<D, T>, D, T> {
  TransformerEncoder<D, T> encoder;
  TransformerDecoder<D, T> decoder;

  Transformer(Index d_model, Index nhead, const TransformerOptions& o = {}, CallSite here = {})
      : encoder(TransformerEncoderLayer<D, T>(d_model, nhead, o.layer(), here), o.num_encoder_layers,
                detail::norm_of<D, T>(d_model, o.layer(), here), here),
        decoder(TransformerDecoderLayer<D, T>(d_model, nhead, o.layer(), here), o.num_decoder_layers,
                detail::norm_of<D, T>(d_model, o.layer(), here), here) {
    for (auto& [name, parameter] : this->named_parameters())
      if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
  Transformer(Index d_model, Index nhead, tern::detail::Positional<Index> num_encoder_layers,
              tern::detail::Positional<Index> num_decoder_layers = 6,
              tern::detail::Positional<Index> dim_feedforward = 2048, tern::detail::RealNumber dropout = 0.1,
              detail::ActivationChoice activation = TransformerActivation::relu, CallSite here = {})
      : Transformer(d_model, nhead,
                    {.num_encoder_layers = num_encoder_layers,
                     .num_decoder_layers = num_decoder_layers,
                     .dim_feedforward = dim_feedforward,
                     .dropout = dropout,
                     .activation = activation},
                    here) {}
  TERN_LAYER(Transformer, encoder, decoder)
  using Transformer::ModuleOf::operator();

  Tensor<D, T> forward(const Tensor<D, T>& src, const Tensor<D, T>& tgt, const TransformerMasks<D>& masks = {},
                       CallSite here = {}) const {
    const CallScope scope(here);
    const int batch = encoder.layers[0].self_attn.batch_first ? 0 : 1;
    if (src.checked("Transformer")->ndim != tgt.checked("Transformer")->ndim ||
        (src.dim() == 3 && src.size(batch) != tgt.size(batch)))
      Error::fail("Transformer",
                  {"src of shape ", src.shape(), " and tgt of shape ", tgt.shape(), " have different batches"});
    const Tensor<D, T> memory = encoder(
        src,
        {.mask = masks.src_mask, .src_key_padding_mask = masks.src_key_padding_mask, .is_causal = masks.src_is_causal});
    return decoder(tgt, memory,
                   {.tgt_mask = masks.tgt_mask,
                    .memory_mask = masks.memory_mask,
                    .tgt_key_padding_mask = masks.tgt_key_padding_mask,
                    .memory_key_padding_mask = masks.memory_key_padding_mask,
                    .tgt_is_causal = masks.tgt_is_causal,
                    .memory_is_causal = masks.memory_is_causal});
  }
  template <class SrcMask = T, class TgtMask = T, class MemoryMask = T>
  Tensor<D, T> forward(const Tensor<D, T>& src, const Tensor<D, T>& tgt, const Tensor<D, SrcMask>& src_mask,
                       const Tensor<D, TgtMask>& tgt_mask = {}, const Tensor<D, MemoryMask>& memory_mask = {},
                       const Tensor<D, bool>& src_key_padding_mask = {},
                       const Tensor<D, bool>& tgt_key_padding_mask = {},
                       const Tensor<D, bool>& memory_key_padding_mask = {}, CallSite here = {}) const {
    return forward(src, tgt,
                   {.src_mask = src_mask,
                    .tgt_mask = tgt_mask,
                    .memory_mask = memory_mask,
                    .src_key_padding_mask = src_key_padding_mask,
                    .tgt_key_padding_mask = tgt_key_padding_mask,
                    .memory_key_padding_mask = memory_key_padding_mask},
                   here);
  }
  template <class X, class Y>
  auto operator()(const X& src, const Y& tgt, const TransformerMasks<D>& masks, CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, src, tgt, masks);
  }

  /// The mask that lets each of n positions see itself and those before: -inf above the diagonal, 0 elsewhere.
  static Tensor<D, T> generate_square_subsequent_mask(Index n, CallSite here = {}) {
    const CallScope scope({"generate_square_subsequent_mask", here});
    return triu(full<D, T>({n, n}, -std::numeric_limits<double>::infinity()), 1, here);
  }
};

}}}  // namespace tern::nn
