// Embedding and EmbeddingBag: rows of a table, chosen by number.
#pragma once
#include "../ops/embedding.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern::nn {

struct EmbeddingLayerOptions {
  Index padding_idx = -1;  // a row that starts as zeros and is never trained; -1: none
};

/// y[..., :] = W[x[...], :]: x holds row numbers, W is [num_embeddings, embedding_dim] and starts normal(0, 1).
template <Device D, Element T = float>
struct Embedding : Module<D, T> {
  Index num_embeddings = 0, embedding_dim = 0, padding_idx = -1;
  Parameter<D, T> weight;

  Embedding(Index rows, Index columns, EmbeddingLayerOptions options = {})
      : num_embeddings(rows), embedding_dim(columns), padding_idx(options.padding_idx) {
    if (rows <= 0 || columns <= 0) fail("Embedding", {"sizes must be positive, not ", rows, " x ", columns});
    const Tensor<D, T> table = randn<D, T>({rows, columns});
    if (padding_idx >= 0) table.select(0, padding_idx).fill_(0);
    weight = table;
  }
  TERN_FIELDS(Embedding, num_embeddings, embedding_dim, padding_idx, weight)

  Tensor<D, T> forward(const Tensor<D, Index>& x) const { return embedding(x, weight, padding_idx); }
};

struct EmbeddingBagLayerOptions {
  BagMode mode = BagMode::mean;
};

/// The sum, mean or maximum over the last dimension of x of rows of W: x is [bags, length], y [bags, embedding_dim].
template <Device D, Element T = float>
struct EmbeddingBag : Module<D, T> {
  Index num_embeddings = 0, embedding_dim = 0;
  BagMode mode = BagMode::mean;
  Parameter<D, T> weight;

  EmbeddingBag(Index rows, Index columns, EmbeddingBagLayerOptions options = {})
      : num_embeddings(rows), embedding_dim(columns), mode(options.mode) {
    if (rows <= 0 || columns <= 0) fail("EmbeddingBag", {"sizes must be positive, not ", rows, " x ", columns});
    weight = randn<D, T>({rows, columns});
  }
  TERN_FIELDS(EmbeddingBag, num_embeddings, embedding_dim, mode, weight)

  Tensor<D, T> forward(const Tensor<D, Index>& x) const { return embedding_bag(x, weight, {.mode = mode}); }
};

}  // namespace tern::nn
