// GPT-2 (Radford and others: "Language models are unsupervised multitask learners", 2019).
#pragma once
#include "../nn/dropout.hpp"
#include "../nn/embedding.hpp"
#include "../nn/init.hpp"
#include "../nn/layer_norm.hpp"
#include "../ops/activations.hpp"
#include "key_value_cache.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct GPT2Options {
  Index vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12;
  double embd_pdrop = 0.1, attn_pdrop = 0.1,
         resid_pdrop = 0.1;  // dropout of the embeddings, the attention, each part of a block
  double layer_norm_epsilon = 1e-5;
};

/// y = x W + b, with x [.., in] and W [in, out]: a linear layer whose weight GPT-2 stores transposed.
template <Device D, Element T = float>
struct Conv1D : nn::Module<D, T> {
  nn::Parameter<D, T> weight, bias;

  Conv1D(Index in, Index out, double deviation)
      : weight(normal<D, T>(0, deviation, {in, out})), bias(zeros<D, T>({out})) {}
  TERN_FIELDS(Conv1D, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return linear(x, weight.t(), bias); }
};

/// x ← x + attention(ln_1(x)), then x ← x + c_proj(gelu(c_fc(ln_2(x)))).
template <Device D, Element T = float>
struct GPT2Block : nn::Module<D, T> {
  GPT2Options options;
  nn::LayerNorm<D, T> ln_1, ln_2;
  Conv1D<D, T> c_attn, attn_proj, c_fc, mlp_proj;

  explicit GPT2Block(const GPT2Options& o)
      : options(o), ln_1(o.n_embd, {.eps = o.layer_norm_epsilon}), ln_2(o.n_embd, {.eps = o.layer_norm_epsilon}),
        c_attn(o.n_embd, 3 * o.n_embd, 0.02), attn_proj(o.n_embd, o.n_embd, 0.02 / std::sqrt(2 * double(o.n_layer))),
        c_fc(o.n_embd, 4 * o.n_embd, 0.02), mlp_proj(4 * o.n_embd, o.n_embd, 0.02 / std::sqrt(2 * double(o.n_layer))) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("ln_1", self.ln_1);
    visit("attn.c_attn", self.c_attn), visit("attn.c_proj", self.attn_proj);
    visit("ln_2", self.ln_2);
    visit("mlp.c_fc", self.c_fc), visit("mlp.c_proj", self.mlp_proj);
  }
  TERN_NAMED_FIELDS(GPT2Block, options, ln_1, ln_2, c_attn, attn_proj, c_fc, mlp_proj)

  /// past: the layer's part of a KeyValueCache.
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& past = {}) const {
    const Tensor<D, T> projected = c_attn(ln_1(x));
    const auto heads = [&](Index part) {
      const Tensor<D, T> rows = projected.narrow(-1, part * options.n_embd, options.n_embd);
      return rows.unflatten(-1, {options.n_head, options.n_embd / options.n_head}).transpose(1, 2);
    };
    const double attn_pdrop = this->is_training() ? options.attn_pdrop : 0;
    const Tensor<D, T> y = x + dropped(attn_proj(causal_attention(heads(0), heads(1), heads(2), past, attn_pdrop)));
    return y + dropped(mlp_proj(gelu(c_fc(ln_2(y)), "tanh")));
  }

 private:
  Tensor<D, T> dropped(const Tensor<D, T>& x) const { return dropout(x, options.resid_pdrop, this->is_training()); }
};

/// Embeddings of tokens and positions, the blocks, and a last normalisation.
template <Device D, Element T = float>
struct GPT2Model : nn::Module<D, T> {
  nn::Embedding<D, T> wte, wpe;
  nn::Dropout<D, T> drop;
  std::vector<GPT2Block<D, T>> h;
  nn::LayerNorm<D, T> ln_f;

  explicit GPT2Model(const GPT2Options& o, CallSite here = {}) : GPT2Model(CallScope(here), o) {}
  GPT2Model(const CallScope&, const GPT2Options& o)
      : wte(o.vocab_size, o.n_embd), wpe(o.n_positions, o.n_embd), drop(o.embd_pdrop),
        ln_f(o.n_embd, {.eps = o.layer_norm_epsilon}) {
    if (o.n_head < 1 || o.n_embd % o.n_head != 0)
      Error::fail("GPT2Model", {"an embedding of ", o.n_embd, " cannot be cut into ", o.n_head, " heads"});
    if (o.n_layer < 1) Error::fail("GPT2Model", {"n_layer must be positive, not ", o.n_layer});
    nn::init::normal_(wte.weight, 0, 0.02);
    nn::init::normal_(wpe.weight, 0, 0.02);
    for (Index i = 0; i < o.n_layer; ++i) h.emplace_back(o);
  }
  TERN_FIELDS(GPT2Model, wte, wpe, drop, h, ln_f)

  /// Tokens [batch, n] to [batch, n, n_embd]. With a cache they follow those in it, and are added to it.
  Tensor<D, T> forward(const Tensor<D, Index>& tokens, KeyValueCache<D, T>* cache = nullptr) const {
    const Index first = first_position("GPT2Model", tokens, wpe.num_embeddings, cache), n = tokens.size(1);
    Tensor<D, T> x = drop(wte(tokens) + wpe(tern::detail::arange_like(tokens, first, 1, n).unsqueeze(0)));
    for (std::size_t i = 0; i < h.size(); ++i) x = cache ? h[i](x, cache->with_next(Index(i), n)) : h[i](x);
    if (cache) cache->length += n;
    return ln_f(x);
  }
};

/// GPT-2 with logits for the next token, computed with wte's weight. Parameters have the names of Hugging Face's class.
template <Device D, Element T = float>
struct GPT2LMHeadModel : nn::Module<D, T> {
  GPT2Model<D, T> transformer;

  explicit GPT2LMHeadModel(const GPT2Options& options = {}, CallSite here = {})
      : GPT2LMHeadModel(CallScope(here), options) {}
  GPT2LMHeadModel(const CallScope&, const GPT2Options& options) : transformer(options) {}
  TERN_FIELDS(GPT2LMHeadModel, transformer)

  /// Tokens [batch, n] to logits [batch, n, vocab_size].
  Tensor<D, T> forward(const Tensor<D, Index>& tokens) const {
    return linear(transformer(tokens), transformer.wte.weight);
  }

  /// The logits [batch, vocab_size] of the token after these, which follow those in the cache and are added to it.
  Tensor<D, T> next_logits(const Tensor<D, Index>& tokens, KeyValueCache<D, T>& cache) const {
    return linear(transformer(tokens, &cache).select(1, -1), transformer.wte.weight);
  }
  /// An empty cache for up to `capacity` tokens of each of `batch` sequences.
  KeyValueCache<D, T> new_cache(Index batch, Index capacity) const {
    const GPT2Options& o = transformer.h[0].options;
    return models::new_cache<D, T>("GPT2LMHeadModel", o.n_positions, o.n_layer, batch, o.n_head, capacity,
                                   o.n_embd / o.n_head, transformer.wte.weight.device());
  }
};

}}}  // namespace tern::models
