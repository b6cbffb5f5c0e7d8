// Llama (Touvron and others: "LLaMA: open and efficient foundation language models", 2023; with grouped queries, "Llama 2:
// open foundation and fine-tuned chat models", 2023).
#pragma once
#include "../nn/embedding.hpp"
#include "../nn/init.hpp"
#include "../nn/linear.hpp"
#include "../nn/rms_norm.hpp"
#include "../ops/activations.hpp"
#include "../ops/cat.hpp"
#include "../ops/trigonometric.hpp"
#include "key_value_cache.hpp"

namespace tern::inline TERN_BUILD::models {

struct LlamaOptions {
  Index vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
  Index num_attention_heads = 32, num_key_value_heads = 32, max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6, rope_theta = 10000;
  bool tie_word_embeddings = false;  // the logits are computed with the embeddings' weight
};

/// The cosines and sines [2, n, size] that rotary_embedding() takes, for n positions beside x from `first` on. Pair i of
/// a head is turned by the angle position · theta^(-2i / size), calculated in doubles.
template <class T, Device D, class X>
Tensor<D, T> rotary_table(const Tensor<D, X>& x, Index first, Index n, Index size, double theta) {
  const auto pairs = tern::detail::range_beside(x, 0, 1, size / 2).to(f64);
  const auto half = tern::detail::range_beside(x, first, 1, n).to(f64).unsqueeze(1) * exp(pairs * (-2 * std::log(theta) / double(size)));
  const auto angles = cat<D, double>({half, half}, -1);
  return stack<D, double>({cos(angles), sin(angles)}, 0).to(tern::detail::Type<T>{});
}

/// Turns each pair (x[i], x[i + size / 2]) of x [.., n, size] by its position's angle (Su and others: "RoFormer: enhanced
/// transformer with rotary position embedding", 2021). The table is rotary_table()'s.
template <Device D, Element T>
Tensor<D, T> rotary_embedding(const Tensor<D, T>& x, const Tensor<D, T>& table) {
  const auto halves = x.chunk(2, -1);
  return x * table.select(0, 0) + cat<D, T>({-halves[1], halves[0]}, -1) * table.select(0, 1);
}

/// x ← x + o_proj(attention(input_layernorm(x))), then x ← x + down_proj(silu(gate_proj(y)) · up_proj(y)) with y =
/// post_attention_layernorm(x). Queries and keys are turned by their positions. Each key head serves a group of
/// consecutive query heads (Ainslie and others: "GQA", 2023). The gate is SwiGLU's (Shazeer: "GLU variants improve
/// transformer", 2020).
template <Device D, Element T = float>
struct LlamaDecoderLayer : nn::Module<D, T> {
  LlamaOptions options;
  nn::Linear<D, T> q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj;
  nn::RMSNorm<D, T> input_layernorm, post_attention_layernorm;

  explicit LlamaDecoderLayer(const LlamaOptions& o)
      : options(o),
        q_proj(o.hidden_size, o.hidden_size, {.bias = false}),
        k_proj(o.hidden_size, o.num_key_value_heads * head_size(), {.bias = false}),
        v_proj(o.hidden_size, o.num_key_value_heads * head_size(), {.bias = false}),
        o_proj(o.hidden_size, o.hidden_size, {.bias = false}),
        gate_proj(o.hidden_size, o.intermediate_size, {.bias = false}),
        up_proj(o.hidden_size, o.intermediate_size, {.bias = false}),
        down_proj(o.intermediate_size, o.hidden_size, {.bias = false}),
        input_layernorm(o.hidden_size, {.eps = o.rms_norm_eps}),
        post_attention_layernorm(o.hidden_size, {.eps = o.rms_norm_eps}) {
    for (auto* const layer : {&q_proj, &k_proj, &v_proj, &o_proj, &gate_proj, &up_proj, &down_proj})
      nn::init::normal_(layer->weight, 0, 0.02);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("self_attn.q_proj", self.q_proj), visit("self_attn.k_proj", self.k_proj);
    visit("self_attn.v_proj", self.v_proj), visit("self_attn.o_proj", self.o_proj);
    visit("mlp.gate_proj", self.gate_proj), visit("mlp.up_proj", self.up_proj), visit("mlp.down_proj", self.down_proj);
    visit("input_layernorm", self.input_layernorm), visit("post_attention_layernorm", self.post_attention_layernorm);
  }
  TERN_NAMED_FIELDS(LlamaDecoderLayer, options, q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, input_layernorm,
                    post_attention_layernorm)

  Index head_size() const { return options.hidden_size / options.num_attention_heads; }

  /// rotary: rotary_table() of x's positions. past: the layer's part of a KeyValueCache.
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& rotary, const Tensor<D, T>& past = {}) const {
    const Tensor<D, T> normal = input_layernorm(x);
    const auto heads = [&](const nn::Linear<D, T>& layer) {
      return layer(normal).unflatten(-1, {-1, head_size()}).transpose(1, 2);
    };
    const Tensor<D, T> query = rotary_embedding(heads(q_proj), rotary), key = rotary_embedding(heads(k_proj), rotary);
    const Tensor<D, T> y = x + o_proj(causal_attention(query, key, heads(v_proj), past));
    const Tensor<D, T> z = post_attention_layernorm(y);
    return y + down_proj(silu(gate_proj(z)) * up_proj(z));
  }
};

/// Embeddings of tokens, the layers, and a last normalisation.
template <Device D, Element T = float>
struct LlamaModel : nn::Module<D, T> {
  nn::Embedding<D, T> embed_tokens;
  std::vector<LlamaDecoderLayer<D, T>> layers;
  nn::RMSNorm<D, T> norm;

  explicit LlamaModel(const LlamaOptions& o)
      : embed_tokens(o.vocab_size, o.hidden_size), norm(o.hidden_size, {.eps = o.rms_norm_eps}) {
    const Index heads = o.num_attention_heads, shared = o.num_key_value_heads;
    if (heads < 1 || o.hidden_size % (2 * heads) != 0)
      fail("LlamaModel", {"a hidden_size of ", o.hidden_size, " cannot be cut into ", heads, " heads of even size"});
    if (shared < 1 || heads % shared != 0) fail("LlamaModel", {shared, " key heads do not divide ", heads, " query heads"});
    if (o.num_hidden_layers < 1) fail("LlamaModel", {"num_hidden_layers must be positive, not ", o.num_hidden_layers});
    nn::init::normal_(embed_tokens.weight, 0, 0.02);
    for (Index i = 0; i < o.num_hidden_layers; ++i) layers.emplace_back(o);
  }
  TERN_FIELDS(LlamaModel, embed_tokens, layers, norm)

  /// Tokens [batch, n] to [batch, n, hidden_size]. With a cache they follow those in it, and are added to it.
  Tensor<D, T> forward(const Tensor<D, Index>& tokens, KeyValueCache<D, T>* cache = nullptr) const {
    const LlamaOptions& o = layers[0].options;
    const Index first = first_position("LlamaModel", tokens, o.max_position_embeddings, cache), n = tokens.size(1);
    const auto rotary = rotary_table<T>(tokens, first, n, layers[0].head_size(), o.rope_theta);
    Tensor<D, T> x = embed_tokens(tokens);
    for (std::size_t i = 0; i < layers.size(); ++i)
      x = cache ? layers[i](x, rotary, cache->with_next(Index(i), n)) : layers[i](x, rotary);
    if (cache) cache->length += n;
    return norm(x);
  }
};

/// Llama with logits for the next token. Parameters have the names of Hugging Face's class.
template <Device D, Element T = float>
struct LlamaForCausalLM : nn::Module<D, T> {
  LlamaModel<D, T> model;
  nn::Linear<D, T> lm_head;  // without a weight if that is the embeddings'

  explicit LlamaForCausalLM(const LlamaOptions& o = {}) : model(o) {
    if (o.tie_word_embeddings) return;
    lm_head = nn::Linear<D, T>(o.hidden_size, o.vocab_size, {.bias = false});
    nn::init::normal_(lm_head.weight, 0, 0.02);
  }
  TERN_FIELDS(LlamaForCausalLM, model, lm_head)

  /// Tokens [batch, n] to logits [batch, n, vocab_size].
  Tensor<D, T> forward(const Tensor<D, Index>& tokens) const { return logits(model(tokens)); }

  /// The logits [batch, vocab_size] of the token after these, which follow those in the cache and are added to it.
  Tensor<D, T> next_logits(const Tensor<D, Index>& tokens, KeyValueCache<D, T>& cache) const {
    return logits(model(tokens, &cache).select(1, -1));
  }
  /// An empty cache for up to `capacity` tokens of each of `batch` sequences.
  KeyValueCache<D, T> new_cache(Index batch, Index capacity) const {
    const LlamaDecoderLayer<D, T>& layer = model.layers[0];
    const LlamaOptions& o = layer.options;
    return models::new_cache<D, T>("LlamaForCausalLM", o.max_position_embeddings, o.num_hidden_layers, batch,
                                   o.num_key_value_heads, capacity, layer.head_size(), model.embed_tokens.weight.device());
  }

 private:
  Tensor<D, T> logits(const Tensor<D, T>& x) const {
    return lm_head.weight.defined() ? lm_head(x) : linear(x, model.embed_tokens.weight);
  }
};

}  // namespace tern::models
