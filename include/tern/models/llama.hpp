// Llama (Touvron and others: "LLaMA: open and efficient foundation language models", 2023; with grouped queries, "Llama
// 2: open foundation and fine-tuned chat models", 2023), and what is Llama but for options: Mistral, Qwen 2 and Qwen 3.
#pragma once
#include "../nn/embedding.hpp"
#include "../nn/init.hpp"
#include "../nn/linear.hpp"
#include "../nn/rms_norm.hpp"
#include "../ops/activations.hpp"
#include "key_value_cache.hpp"
#include "rotary.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct LlamaOptions {
  Index vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
  Index num_attention_heads = 32, num_key_value_heads = 32, max_position_embeddings = 2048;
  Index head_dim = 0;  // 0: hidden_size / num_attention_heads
  double rms_norm_eps = 1e-6, rope_theta = 10000;
  RopeScaling rope_scaling{};
  bool tie_word_embeddings = false;  // the logits are computed with the embeddings' weight
  bool qkv_bias = false, o_bias = false, mlp_bias = false;
  bool qk_norm = false;         // queries and keys of each head are normalised
  Index sliding_window = 0;     // a token sees itself and the sliding_window - 1 tokens before it; 0: all
  Index max_window_layers = 0;  // the first layers, in which it sees all of them
  double attention_dropout = 0;
};

/// x ← x + o_proj(attention(input_layernorm(x))), then x ← x + down_proj(silu(gate_proj(y)) · up_proj(y)) with y =
/// post_attention_layernorm(x). Queries and keys are turned by their positions. Each key head serves a group of
/// consecutive query heads (Ainslie and others: "GQA", 2023). The gate is SwiGLU's (Shazeer: "GLU variants improve
/// transformer", 2020).
template <Device D, Element T = float>
struct LlamaDecoderLayer : nn::Module<D, T> {
  LlamaOptions options;
  nn::Linear<D, T> q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj;
  nn::RMSNorm<D, T> q_norm, k_norm;  // without a weight if queries and keys are not normalised
  nn::RMSNorm<D, T> input_layernorm, post_attention_layernorm;

  explicit LlamaDecoderLayer(const LlamaOptions& o)
      : options(o), q_proj(o.hidden_size, o.num_attention_heads * head_size(), {.bias = o.qkv_bias}),
        k_proj(o.hidden_size, o.num_key_value_heads * head_size(), {.bias = o.qkv_bias}),
        v_proj(o.hidden_size, o.num_key_value_heads * head_size(), {.bias = o.qkv_bias}),
        o_proj(o.num_attention_heads * head_size(), o.hidden_size, {.bias = o.o_bias}),
        gate_proj(o.hidden_size, o.intermediate_size, {.bias = o.mlp_bias}),
        up_proj(o.hidden_size, o.intermediate_size, {.bias = o.mlp_bias}),
        down_proj(o.intermediate_size, o.hidden_size, {.bias = o.mlp_bias}),
        q_norm(head_size(), {.eps = o.rms_norm_eps, .elementwise_affine = o.qk_norm}),
        k_norm(head_size(), {.eps = o.rms_norm_eps, .elementwise_affine = o.qk_norm}),
        input_layernorm(o.hidden_size, {.eps = o.rms_norm_eps}),
        post_attention_layernorm(o.hidden_size, {.eps = o.rms_norm_eps}) {
    for (auto* const layer : {&q_proj, &k_proj, &v_proj, &o_proj, &gate_proj, &up_proj, &down_proj}) {
      nn::init::normal_(layer->weight, 0, 0.02);
      if (layer->bias.defined()) nn::init::zeros_(layer->bias);
    }
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("self_attn.q_proj", self.q_proj), visit("self_attn.k_proj", self.k_proj);
    visit("self_attn.v_proj", self.v_proj), visit("self_attn.o_proj", self.o_proj);
    visit("self_attn.q_norm", self.q_norm), visit("self_attn.k_norm", self.k_norm);
    visit("mlp.gate_proj", self.gate_proj), visit("mlp.up_proj", self.up_proj), visit("mlp.down_proj", self.down_proj);
    visit("input_layernorm", self.input_layernorm), visit("post_attention_layernorm", self.post_attention_layernorm);
  }
  TERN_NAMED_FIELDS(LlamaDecoderLayer, options, q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, q_norm,
                    k_norm, input_layernorm, post_attention_layernorm)

  Index head_size() const {
    return options.head_dim ? options.head_dim : options.hidden_size / options.num_attention_heads;
  }

  /// rotary: rotary_table() of x's positions. past: the layer's part of a KeyValueCache.
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& rotary, const Tensor<D, T>& past = {}) const {
    const Tensor<D, T> normal = input_layernorm(x);
    const auto heads = [&](const nn::Linear<D, T>& layer) {
      return layer(normal).unflatten(-1, {-1, head_size()}).transpose(1, 2);
    };
    Tensor<D, T> query = heads(q_proj), key = heads(k_proj);
    if (options.qk_norm) query = q_norm(query), key = k_norm(key);
    query = rotary_embedding(query, rotary), key = rotary_embedding(key, rotary);
    const double dropout_p = this->is_training() ? options.attention_dropout : 0;
    const Tensor<D, T> y =
        x + o_proj(causal_attention(query, key, heads(v_proj), past, dropout_p, options.sliding_window));
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

  explicit LlamaModel(const LlamaOptions& o, CallSite here = {}) : LlamaModel(CallScope(here), o) {}
  LlamaModel(const CallScope&, const LlamaOptions& o)
      : embed_tokens(o.vocab_size, o.hidden_size), norm(o.hidden_size, {.eps = o.rms_norm_eps}) {
    const Index heads = o.num_attention_heads, shared = o.num_key_value_heads;
    if (o.head_dim < 0 || o.head_dim % 2 != 0) Error::fail("LlamaModel", {"head_dim must be even, not ", o.head_dim});
    if (heads < 1 || (o.head_dim == 0 && o.hidden_size % (2 * heads) != 0))
      Error::fail("LlamaModel",
                  {"a hidden_size of ", o.hidden_size, " cannot be cut into ", heads, " heads of even size"});
    if (shared < 1 || heads % shared != 0)
      Error::fail("LlamaModel", {shared, " key heads do not divide ", heads, " query heads"});
    if (o.num_hidden_layers < 1)
      Error::fail("LlamaModel", {"num_hidden_layers must be positive, not ", o.num_hidden_layers});
    nn::init::normal_(embed_tokens.weight, 0, 0.02);
    LlamaOptions all_seeing = o;
    all_seeing.sliding_window = 0;
    for (Index i = 0; i < o.num_hidden_layers; ++i) layers.emplace_back(i < o.max_window_layers ? all_seeing : o);
  }
  TERN_FIELDS(LlamaModel, embed_tokens, layers, norm)

  /// Tokens [batch, n] to [batch, n, hidden_size]. With a cache they follow those in it, and are added to it.
  Tensor<D, T> forward(const Tensor<D, Index>& tokens, KeyValueCache<D, T>* cache = nullptr) const {
    const LlamaOptions& o = layers[0].options;
    const Index first = first_position("LlamaModel", tokens, o.max_position_embeddings, cache), n = tokens.size(1);
    const auto rotary = rotary_table<T>(tokens, first, n, layers[0].head_size(), o.rope_theta, o.rope_scaling);
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

  explicit LlamaForCausalLM(const LlamaOptions& o = {}, CallSite here = {}) : LlamaForCausalLM(CallScope(here), o) {}
  LlamaForCausalLM(const CallScope&, const LlamaOptions& o) : model(o) {
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
                                   o.num_key_value_heads, capacity, layer.head_size(),
                                   model.embed_tokens.weight.device());
  }

 private:
  Tensor<D, T> logits(const Tensor<D, T>& x) const {
    return lm_head.weight.defined() ? lm_head(x) : linear(x, model.embed_tokens.weight);
  }
};

}}}  // namespace tern::models
