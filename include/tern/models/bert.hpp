// BERT (Devlin and others: "BERT: pre-training of deep bidirectional transformers for language understanding", 2018).
#pragma once
#include "../nn/dropout.hpp"
#include "../nn/embedding.hpp"
#include "../nn/init.hpp"
#include "../nn/layer_norm.hpp"
#include "../nn/linear.hpp"
#include "../ops/activations.hpp"
#include "../ops/attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

struct BertOptions {
  Index vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12,
        intermediate_size = 3072;
  Index max_position_embeddings = 512, type_vocab_size = 2, num_labels = 2;
  double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1, layer_norm_eps = 1e-12;
};

/// A dense layer whose weight starts normal(0, 0.02) and whose bias starts as zeros.
template <Device D, Element T>
nn::Linear<D, T> bert_linear(Index in, Index out) {
  nn::Linear<D, T> layer(in, out);
  nn::init::normal_(layer.weight, 0, 0.02);
  nn::init::zeros_(layer.bias);
  return layer;
}

/// x ← attention_norm(x + attention(x)), then x ← output_norm(x + output(gelu(intermediate(x)))).
template <Device D, Element T = float>
struct BertLayer : nn::Module<D, T> {
  BertOptions options;
  nn::Linear<D, T> query, key, value, attention_output, intermediate, output;
  nn::LayerNorm<D, T> attention_norm, output_norm;

  explicit BertLayer(const BertOptions& o)
      : options(o), query(bert_linear<D, T>(o.hidden_size, o.hidden_size)),
        key(bert_linear<D, T>(o.hidden_size, o.hidden_size)), value(bert_linear<D, T>(o.hidden_size, o.hidden_size)),
        attention_output(bert_linear<D, T>(o.hidden_size, o.hidden_size)),
        intermediate(bert_linear<D, T>(o.hidden_size, o.intermediate_size)),
        output(bert_linear<D, T>(o.intermediate_size, o.hidden_size)),
        attention_norm(o.hidden_size, {.eps = o.layer_norm_eps}),
        output_norm(o.hidden_size, {.eps = o.layer_norm_eps}) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("attention.self.query", self.query), visit("attention.self.key", self.key),
        visit("attention.self.value", self.value);
    visit("attention.output.dense", self.attention_output), visit("attention.output.LayerNorm", self.attention_norm);
    visit("intermediate.dense", self.intermediate);
    visit("output.dense", self.output), visit("output.LayerNorm", self.output_norm);
  }
  TERN_NAMED_FIELDS(BertLayer, options, query, key, value, attention_output, intermediate, output, attention_norm,
                    output_norm)

  /// sees [batch, 1, 1, n] is true for the tokens that are not padding. Undefined: all.
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, bool>& sees = {}) const {
    const auto heads = [&](const nn::Linear<D, T>& layer) {
      return layer(x).unflatten(-1, {options.num_attention_heads, -1}).transpose(1, 2);
    };
    const AttentionOptions attention{.dropout_p = this->is_training() ? options.attention_probs_dropout_prob : 0};
    const Tensor<D, T> attended = scaled_dot_product_attention(heads(query), heads(key), heads(value), sees, attention);
    const Tensor<D, T> y = attention_norm(x + dropped(attention_output(attended.transpose(1, 2).flatten(2))));
    return output_norm(y + dropped(output(gelu(intermediate(y)))));
  }

 private:
  Tensor<D, T> dropped(const Tensor<D, T>& x) const {
    return dropout(x, options.hidden_dropout_prob, this->is_training());
  }
};

/// The sum of three embeddings, normalised, and the layers.
template <Device D, Element T = float>
struct BertModel : nn::Module<D, T> {
  nn::Embedding<D, T> word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm<D, T> norm;
  nn::Dropout<D, T> dropout;
  std::vector<BertLayer<D, T>> layers;
  nn::Linear<D, T> pooler;

  explicit BertModel(const BertOptions& o, CallSite here = {}) : BertModel(CallScope(here), o) {}
  BertModel(const CallScope&, const BertOptions& o)
      : word_embeddings(o.vocab_size, o.hidden_size, {.padding_idx = 0}),
        position_embeddings(o.max_position_embeddings, o.hidden_size),
        token_type_embeddings(o.type_vocab_size, o.hidden_size), norm(o.hidden_size, {.eps = o.layer_norm_eps}),
        dropout(o.hidden_dropout_prob), pooler(bert_linear<D, T>(o.hidden_size, o.hidden_size)) {
    if (o.num_attention_heads < 1 || o.hidden_size % o.num_attention_heads != 0)
      Error::fail("BertModel",
                  {"a hidden_size of ", o.hidden_size, " cannot be cut into ", o.num_attention_heads, " heads"});
    for (auto* const table : {&word_embeddings, &position_embeddings, &token_type_embeddings})
      nn::init::normal_(table->weight, 0, 0.02);
    nn::init::zeros_(word_embeddings.weight.select(0, 0));
    for (Index i = 0; i < o.num_hidden_layers; ++i) layers.emplace_back(o);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("embeddings.word_embeddings", self.word_embeddings);
    visit("embeddings.position_embeddings", self.position_embeddings);
    visit("embeddings.token_type_embeddings", self.token_type_embeddings);
    visit("embeddings.LayerNorm", self.norm), visit("embeddings.dropout", self.dropout);
    visit("encoder.layer", self.layers), visit("pooler.dense", self.pooler);
  }
  TERN_NAMED_FIELDS(BertModel, word_embeddings, position_embeddings, token_type_embeddings, norm, dropout, layers,
                    pooler)

  /// Tokens [batch, n] to [batch, n, hidden_size]. attention_mask [batch, n] is false for padding, which no token sees;
  /// undefined: there is none. token_type_ids [batch, n] says which sentence a token is of; undefined: the first.
  Tensor<D, T> forward(const Tensor<D, Index>& tokens, const Tensor<D, bool>& attention_mask = {},
                       const Tensor<D, Index>& token_type_ids = {}) const {
    if (tokens.checked("BertModel")->ndim != 2)
      Error::fail("BertModel", {"tokens must be [batch, length], not ", tokens.shape()});
    const Index n = tokens.size(1), positions = position_embeddings.num_embeddings;
    if (n > positions) Error::fail("BertModel", {n, " tokens for ", positions, " positions"});
    for (const tern::detail::Shape& given : {attention_mask.defined() ? attention_mask.shape() : tokens.shape(),
                                             token_type_ids.defined() ? token_type_ids.shape() : tokens.shape()})
      if (!(given == tokens.shape()))
        Error::fail("BertModel", {"a mask or types of shape ", given, " for tokens of ", tokens.shape()});
    const auto sees = attention_mask.defined() ? attention_mask.unsqueeze(1).unsqueeze(1) : attention_mask;
    const auto types = token_type_ids.defined() ? token_type_ids : zeros_like(tokens);
    const auto at = tern::detail::arange_like(tokens, 0, 1, n).unsqueeze(0);
    Tensor<D, T> x = dropout(norm(word_embeddings(tokens) + token_type_embeddings(types) + position_embeddings(at)));
    for (const BertLayer<D, T>& layer : layers) x = layer(x, sees);
    return x;
  }

  /// tanh(pooler(y)) of the first token's y, for forward()'s result: [batch, n, hidden_size] to [batch, hidden_size].
  Tensor<D, T> pooled(const Tensor<D, T>& x) const { return tanh(pooler(x.select(1, 0))); }
};

/// BERT with scores for labels. Parameters have the names of Hugging Face's class.
template <Device D, Element T = float>
struct BertForSequenceClassification : nn::Module<D, T> {
  BertModel<D, T> bert;
  nn::Dropout<D, T> dropout;
  nn::Linear<D, T> classifier;

  explicit BertForSequenceClassification(const BertOptions& o = {}, CallSite here = {})
      : BertForSequenceClassification(CallScope(here), o) {}
  BertForSequenceClassification(const CallScope&, const BertOptions& o)
      : bert(o), dropout(o.hidden_dropout_prob), classifier(bert_linear<D, T>(o.hidden_size, o.num_labels)) {}
  TERN_FIELDS(BertForSequenceClassification, bert, dropout, classifier)

  /// BertModel's arguments. The result is [batch, num_labels].
  Tensor<D, T> forward(const Tensor<D, Index>& tokens, const Tensor<D, bool>& attention_mask = {},
                       const Tensor<D, Index>& token_type_ids = {}) const {
    return classifier(dropout(bert.pooled(bert(tokens, attention_mask, token_type_ids))));
  }
};

}}}  // namespace tern::models
