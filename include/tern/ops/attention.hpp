// Attention by scaled products (Vaswani et al.: Attention is all you need, 2017).
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>

#include "dropout.hpp"
#include "matmul.hpp"
#include "softmax.hpp"
#include "take.hpp"
#include "triangle.hpp"
#include "wide.hpp"

namespace tern {

struct AttentionOptions {
  double dropout_p = 0;
  bool is_causal = false;         // query i sees the keys 0 … i
  std::optional<double> scale{};  // 1 / √(size of a query) by default
  bool enable_gqa = false;        // fewer heads of keys than of queries: each serves a group of neighbours
};

namespace detail {

/// softmax(Q Kᵀ scale + mask) V, all of one type but a boolean mask.
template <class D, class T, class Mask>
Tensor<D, T> attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                       const Tensor<D, Mask>& mask, const AttentionOptions& options, Here here) {
  const double scale = options.scale.value_or(1 / std::sqrt(double(query.size(-1))));
  Tensor<D, T> scores = matmul(mul(query, scale, here), transpose(key, -2, -1, here), here);
  Tensor<D, bool> hidden;
  if (options.is_causal) hidden = eq(tril(ones<D, bool>({query.size(-2), key.size(-2)}, query.device())), false);
  if constexpr (std::is_same_v<Mask, bool>) {
    if (mask.defined()) hidden = eq(mask, false);
  } else {
    if (mask.defined()) scores = add(scores, mask, here);
  }
  if (hidden.defined()) scores = masked_fill(scores, hidden, -std::numeric_limits<double>::infinity(), here);
  Tensor<D, T> weights = softmax(scores, -1, here);
  if (hidden.defined() && mask.defined())
    weights = masked_fill(weights, hidden, 0, here);  // no NaN where all is hidden
  if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, true, here);
  return matmul(weights, value, here);
}

}  // namespace detail

/// softmax(Q Kᵀ scale + mask) V over the last two dimensions: queries [.., m, e], keys [.., n, e], values [.., n, v]. A
/// boolean mask [.., m, n] is true where a query sees a key, one of numbers is added; a query that sees none gives
/// zeros.
template <Device D, Floating T, class Mask = T>
Tensor<D, T> scaled_dot_product_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                                          const Tensor<D, Mask>& mask = {}, const AttentionOptions& options = {},
                                          Here here = {}) {
  const char* const op = "scaled_dot_product_attention";
  const ErrorName name(op);
  if (query.checked(op)->ndim < 2 || key.checked(op)->ndim < 2 || value.checked(op)->ndim < 2)
    fail(op, {"at least two dimensions are needed: ", query.shape(), ", ", key.shape(), ", ", value.shape()});
  if (mask.defined() && options.is_causal) fail(op, {"a mask and is_causal exclude each other"});
  Tensor<D, T> k = key, v = value;
  if (options.enable_gqa) {
    const auto heads = [](const Tensor<D, T>& x) { return x.dim() > 2 ? x.size(-3) : 1; };
    if (query.dim() < 3 || heads(k) == 0 || heads(query) % heads(k) || heads(k) != heads(v))
      fail(op,
           {"heads of keys ", key.shape(), " and values ", value.shape(), " do not divide those of ", query.shape()});
    k = repeat_interleave(k, heads(query) / heads(k), -3, here);
    v = repeat_interleave(v, heads(query) / heads(v), -3, here);
  }
  const auto attend = [&](const auto& q, const auto& keys, const auto& values, const auto& m) {
    return detail::attention(q, keys, values, m, options, here);
  };
  if (!mask.defined())  // of no type that would be converted
    return detail::rounded_once(
        [&](const auto& q, const auto& keys, const auto& values) { return attend(q, keys, values, Tensor<D, bool>()); },
        query, k, v);
  if constexpr (std::is_same_v<Mask, bool>)
    return detail::rounded_once(
        [&](const auto& q, const auto& keys, const auto& values) { return attend(q, keys, values, mask); }, query, k,
        v);
  else
    return detail::rounded_once(attend, query, k, v, mask);
}

}  // namespace tern
