// What a language model's attention keeps of the tokens that it has seen.
#pragma once
#include "../ops/attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// Keys and values of all layers. The memory is allocated once, for a fixed number of tokens.
template <Device D, Element T = float>
struct KeyValueCache {
  Tensor<D, T> stored;  // [layers, 2, batch, heads, tokens, size of a head]
  Index length = 0;     // the tokens that have been stored

  Index batch() const { return stored.size(2); }
  Index capacity() const { return stored.size(4); }
  /// A layer's part for the tokens stored and the next `count`, whose keys and values the layer writes.
  Tensor<D, T> with_next(Index layer, Index count) const {
    return stored.select(0, layer).narrow(3, 0, length + count);
  }
};

/// The position of the first of these tokens [batch, n]: the number of those in the cache, if there is one. Error if
/// there are more tokens than positions, or the cache has no room.
template <Device D, Element T>
Index first_position(const char* model, const Tensor<D, Index>& tokens, Index positions,
                     const KeyValueCache<D, T>* cache) {
  if (tokens.checked(model)->ndim != 2 || tokens.numel() == 0)
    Error::fail(model, {"tokens must be [batch, length] and not empty, not ", tokens.shape()});
  const Index first = cache ? cache->length : 0, end = first + tokens.size(1);
  if (end > positions) Error::fail(model, {end, " tokens for ", positions, " positions"});
  if (cache && (end > cache->capacity() || tokens.size(0) != cache->batch()))
    Error::fail(model, {"a cache for ", cache->batch(), " x ", cache->capacity(), " tokens holds ", first,
                        " and cannot take ", tokens.shape()});
  return first;
}

/// An empty cache for `capacity` tokens of each of `batch` sequences. Error if the model has fewer positions.
template <Device D, Element T>
KeyValueCache<D, T> new_cache(const char* model, Index positions, Index layers, Index batch, Index heads,
                              Index capacity, Index head_size, D device) {
  if (batch < 1 || capacity < 1 || capacity > positions)
    Error::fail(model, {"a cache for ", batch, " x ", capacity, " tokens of a model with ", positions, " positions"});
  return {empty<D, T>({layers, 2, batch, heads, capacity, head_size}, device)};
}

/// Attention in which a token sees itself and the tokens before it; with a window, only the last `window` of these,
/// itself among them. Queries are [batch, heads, n, size], keys and values too, with as many heads or fewer; the result
/// is [batch, n, heads · size]. With `past` [2, batch, heads, m + n, size], which holds m tokens, keys and values
/// become its last n, and the queries see all of it.
template <Device D, Element T>
Tensor<D, T> causal_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                              const Tensor<D, T>& past, double dropout_p = 0, Index window = 0) {
  const Index n = query.size(-2), m = past.defined() ? past.size(-2) - n : 0;
  Tensor<D, T> keys = key, values = value;
  if (past.defined()) {
    keys = past.select(0, 0), values = past.select(0, 1);
    keys.narrow(-2, m, n).copy_(key), values.narrow(-2, m, n).copy_(value);
  }
  const bool hides = window > 0 && m + n > window;
  Tensor<D, bool> sees;  // is_causal would show the first query the first key alone
  if (n == 1 && hides)
    keys = keys.narrow(-2, m + 1 - window, window), values = values.narrow(-2, m + 1 - window, window);
  else if (hides || (m > 0 && n > 1)) sees = tril(ones<D, bool>({n, m + n}, query.device()), m);
  if (n > 1 && hides) sees = triu(sees, m + 1 - window);
  const AttentionOptions options{.dropout_p = dropout_p, .is_causal = m == 0 && !hides, .enable_gqa = true};
  return scaled_dot_product_attention(query, keys, values, sees, options).transpose(1, 2).flatten(2);
}

}}}  // namespace tern::models
