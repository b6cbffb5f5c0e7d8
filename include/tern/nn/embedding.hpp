// Embedding and EmbeddingBag: rows of a table, looked up by number.
#pragma once
#include "../core/options.hpp"
#include "../ops/embedding.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct EmbeddingOptions {
  tern::detail::ByName by_name{};
  std::optional<Index> padding_idx = {};  // this row, which may count from the end, starts as zeros and is not trained
};

struct PretrainedEmbeddingOptions {
  bool freeze = true;                     // W is not trained
  std::optional<Index> padding_idx = {};  // this row, which may count from the end, is not trained; it keeps its values
};

struct PretrainedEmbeddingBagOptions {
  bool freeze = true;  // W is not trained
  decltype(EmbeddingBagOptions::mode) mode = BagMode::mean;
  bool include_last_offset = false;
  std::optional<Index> padding_idx = {};
};

/// y[..., :] = W[x[...], :], where x holds row numbers. W is [num_embeddings, embedding_dim] and starts normal(0, 1).
template <Device D, Element T = float>
struct Embedding : ModuleOf<Embedding<D, T>, D, T> {
  Index num_embeddings = 0, embedding_dim = 0;
  std::optional<Index> padding_idx;  // counts from the first row
  Parameter<D, T> weight;

  Embedding(Index rows, Index columns, EmbeddingOptions options = {}, CallSite here = {})
      : num_embeddings(rows), embedding_dim(columns) {
    const CallScope scope(here);
    if (rows <= 0 || columns <= 0) Error::fail("Embedding", {"sizes must be positive, not ", rows, " x ", columns});
    if (options.padding_idx)
      padding_idx = tern::detail::padding_row({"Embedding", CallSite::unknown}, options.padding_idx, rows);
    const Tensor<D, T> table = randn<D, T>({rows, columns});
    if (padding_idx) table.select(0, *padding_idx).fill_(0);
    weight = table;
  }
  Embedding(Index rows, Index columns, tern::detail::Positional<Index> padding_row, CallSite here = {})
      : Embedding(rows, columns, {.padding_idx = padding_row}, here) {}
  TERN_LAYER(Embedding, num_embeddings, embedding_dim, padding_idx, weight)

  /// An embedding whose W is `table`, [num_embeddings, embedding_dim], and shares its elements.
  static Embedding from_pretrained(const Tensor<D, T>& table, PretrainedEmbeddingOptions options = {},
                                   CallSite here = {}) {
    const CallSite op{"from_pretrained", here};
    const CallScope scope(op);
    if (table.checked(op)->ndim != 2 || table.numel() == 0)
      Error::fail(op, {"the table must be [num_embeddings, embedding_dim], not ", table.shape()});
    Embedding layer(1, table.size(1));
    layer.num_embeddings = table.size(0);
    if (options.padding_idx) layer.padding_idx = tern::detail::padding_row(op, options.padding_idx, table.size(0));
    layer.weight = table.detach();
    layer.weight.requires_grad_(!options.freeze);
    return layer;
  }

  Tensor<D, T> forward(const Tensor<D, Index>& x, CallSite here = {}) const {
    return embedding(x, weight, padding_idx, here);
  }
};

/// The sum, mean or maximum of rows of W for each bag. x is [bags, length], or a vector with offsets that say where
/// each bag starts. y is [bags, embedding_dim]. W is [num_embeddings, embedding_dim] and starts normal(0, 1), with
/// zeros in row padding_idx. per_sample_weights, in x's shape, scale the rows of a sum.
template <Device D, Element T = float>
struct EmbeddingBag : ModuleOf<EmbeddingBag<D, T>, D, T> {
  Index num_embeddings = 0, embedding_dim = 0;
  EmbeddingBagOptions options;
  Parameter<D, T> weight;

  EmbeddingBag(Index rows, Index columns, EmbeddingBagOptions chosen = {}, CallSite here = {})
      : num_embeddings(rows), embedding_dim(columns), options(chosen),
        weight(Embedding<D, T>(rows, columns, {.padding_idx = chosen.padding_idx}, here).weight) {}
  TERN_LAYER(EmbeddingBag, num_embeddings, embedding_dim, options, weight)

  /// An embedding bag whose W is `table`, [num_embeddings, embedding_dim], and shares its elements.
  static EmbeddingBag from_pretrained(const Tensor<D, T>& table, PretrainedEmbeddingBagOptions chosen = {},
                                      CallSite here = {}) {
    const auto rows =
        Embedding<D, T>::from_pretrained(table, {.freeze = chosen.freeze, .padding_idx = chosen.padding_idx}, here);
    EmbeddingBag layer(1, rows.embedding_dim, {.mode = chosen.mode, .include_last_offset = chosen.include_last_offset});
    layer.num_embeddings = rows.num_embeddings;
    layer.options.padding_idx = rows.padding_idx;
    layer.weight = rows.weight;
    return layer;
  }

  Tensor<D, T> forward(const Tensor<D, Index>& x, CallSite here = {}) const {
    return embedding_bag(x, weight, options, here);
  }
  Tensor<D, T> forward(const Tensor<D, Index>& x, const Tensor<D, Index>& offsets,
                       const Tensor<D, T>& per_sample_weights = {}, CallSite here = {}) const {
    const CallScope scope(here);
    return embedding_bag(x, weight, offsets, options, per_sample_weights);
  }
};

}}}  // namespace tern::nn
