// Scaled dot-product attention (Vaswani et al.: "Attention is all you need", 2017).
#pragma once
#include <cmath>

#include "../core/options.hpp"
#include "../tensor/any_tensor.hpp"
#include "dropout.hpp"
#include "take.hpp"
#include "support/library_attention.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

struct AttentionOptions {
  detail::ByName by_name{};
  AnyTensor attn_mask{};  // bool or elements as the query's; the function's mask argument, by name
  double dropout_p = 0;
  bool is_causal = false;         // query i sees keys 0 … i
  std::optional<double> scale{};  // by default 1 / √(size of a query)
  bool enable_gqa =
      false;  // allows fewer key heads than query heads; each key head serves a group of consecutive query heads
};

namespace detail {

/// True if queries, keys and values have the same batch dimensions, sizes that match, and elements.
template <class D, class T>
bool equal_batches(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value) {
  if (query.dim() != key.dim() || key.dim() != value.dim() || !query.numel() || !key.numel() || !value.numel())
    return false;
  for (int i = 0; i + 2 < query.dim(); ++i)
    if (query.size(i) != key.size(i) || key.size(i) != value.size(i)) return false;
  return query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2);
}

/// True if the device's kernel, which does not store the scores, can run and is faster.
template <class D, class T>
bool fits_attention_kernel(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                           bool is_causal) {
  return equal_batches(query, key, value) &&
         attention_pays(backend::On<D>{}, backend::AttentionSizes(*query.impl(), *key.impl(), *value.impl()),
                        is_causal);
}

/// The tensors that fused attention saves.
template <class D, class T>
struct AttentionState {
  using X = Tensor<D, T>;
  const X &query, &key, &value, &result;
  const Tensor<D, compute_t<T>>& log_sums;

  std::tuple<X, X, X> gradient(const X& g, NeedsInputGrad needs, double scale, bool is_causal) const {
    const auto wanted = [](bool needed, const X& x) { return needed ? empty<D, T>(x.shape(), x.device()) : X(); };
    const X dq = wanted(needs[0], query), dk = wanted(needs[1], key), dv = wanted(needs[2], value);
    backend::run<D, T>(backend::AttentionGradient{dq.impl(), dk.impl(), dv.impl(), *dense(g).impl(), *result.impl(),
                                                  *log_sums.impl(), *dense(query).impl(), *dense(key).impl(),
                                                  *dense(value).impl(), scale, is_causal});
    // The scores again, the gradient of the weights, and each gradient.
    count_attention(*query.impl(), *key.impl(), *value.impl(), is_causal, 1 + needs[0] + needs[1],
                    (needs[0] || needs[1]) + needs[2]);
    return {dq, dk, dv};
  }
  /// The same as differentiable tensor operations.
  std::tuple<X, X, X> differentiable_gradient(const X& g, NeedsInputGrad needs, double scale, bool is_causal) const {
    using Y = Tensor<D, compute_t<T>>;
    const auto promoted = [](const X& x) { return to_type(x, Type<compute_t<T>>{}); };
    const Y q = promoted(query), k = promoted(key), weights = attention_weights(q, k, Y(), scale, is_causal, {});
    const Y dweights = matmul(promoted(g), promoted(value).mT());
    const Y ds = weights * (dweights - sum(weights * dweights, -1, true)) * scale;
    const auto product = [](bool needed, const Y& a, const Y& b) {
      return needed ? to_type(matmul(a, b), Type<T>{}) : X();
    };
    return {product(needs[0], ds, k), product(needs[1], ds.mT(), q), product(needs[2], weights.mT(), promoted(g))};
  }
};

/// softmax(Q Kᵀ scale) V by the device's fused kernel.
template <class D, class T>
Tensor<D, T> fused_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                             double scale, bool is_causal, CallSite here) {
  Shape result = query.shape();
  result[result.n - 1] = value.size(-1);
  const Shape rows(result.begin(), result.n - 1);
  const Tensor<D, T> y = empty<D, T>(result, query.device());
  const Tensor<D, compute_t<T>> log_sums = empty<D, compute_t<T>>(rows, query.device());
  backend::run<D, T>(backend::Attention{*y.impl(), *log_sums.impl(), *dense(query).impl(), *dense(key).impl(),
                                        *dense(value).impl(), scale, is_causal});
  count_attention(*query.impl(), *key.impl(), *value.impl(), is_causal, 1, 1);
  record({"scaled_dot_product_attention", here}, y,
         wrt(inputs(query, key, value), saved(query, key, value, y, log_sums),
             [scale, is_causal](const auto& g, const auto& q, const auto& k, const auto& v, const auto& output,
                                const auto& sums, NeedsInputGrad needs) {
               const AttentionState<D, T> state{q, k, v, output, sums};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs, scale, is_causal)
                                             : state.gradient(g, needs, scale, is_causal);
             }));
  return y;
}

/// True if the device has a kernel for few queries and their matrices lie as it wants them.
template <class D, class T>
bool fits_token_kernel(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value) {
  if (!equal_batches(query, key, value) || query.size(-2) > backend::few_queries<T> || records(query, key, value))
    return false;
  const auto rows_are_dense = [](const Array& x) {
    Index stride;
    return (x.strides[x.ndim - 1] == 1 || x.dims[x.ndim - 1] == 1) && backend::one_batch_stride(x, stride);
  };
  return rows_are_dense(*key.impl()) && rows_are_dense(*value.impl());
}

template <class D, class T>
Tensor<D, T> token_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                             double scale) {
  Shape result = query.shape();
  result[result.n - 1] = value.size(-1);
  const Tensor<D, T> y = empty<D, T>(result, query.device());
  backend::run<D, T>(backend::TokenAttention{*y.impl(), *dense(query).impl(), *key.impl(), *value.impl(), scale});
  count_attention(*query.impl(), *key.impl(), *value.impl(), false, 1, 1);
  return y;
}

/// softmax(Q Kᵀ scale + mask) V. All have one type, but a mask may be boolean. A mask of numbers must show each query a
/// key.
template <class D, class T, class Mask>
Tensor<D, T> attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                       const Tensor<D, Mask>& mask, const AttentionOptions& options, CallSite here) {
  const double scale = options.scale.value_or(1 / std::sqrt(double(query.size(-1))));
  if constexpr (backend::HasKernel<D, backend::Attention, T>)
    if (!mask.defined() && options.dropout_p <= 0 && fits_attention_kernel(query, key, value, options.is_causal))
      return fused_attention(query, key, value, scale, options.is_causal, here);
  Tensor<D, T> weights = attention_weights(query, key, mask, scale, options.is_causal, here);
  if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, true, here);
  return matmul(weights, value, here);
}

/// x [.., n, d] as [b, h, n, d].
template <class D, class T>
Tensor<D, T> with_heads(const Tensor<D, T>& x) {
  Tensor<D, T> y = x.dim() > 4 ? flatten(x, 0, -4) : x;
  while (y.dim() < 4) y = unsqueeze(y, 0);
  return y;
}

/// The same, but for the numbers of heads where those of keys are fewer.
template <class D, class T>
bool equal_outer_batches(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value, bool grouped) {
  if (!grouped) return equal_batches(query, key, value);
  return query.dim() == key.dim() && equal_batches(query.select(-3, 0), key.select(-3, 0), value.select(-3, 0));
}

/// The numbers that a mask adds to the scores, with 0 for a query that sees no key.
template <class D, class T>
Tensor<D, T> scores_bias(const Tensor<D, T>& mask, const Tensor<D, bool>& blind) {
  return contiguous(masked_fill(mask, blind, 0));
}
template <class T, class D>
Tensor<D, T> scores_bias(const Tensor<D, bool>& mask, const Tensor<D, bool>& blind) {
  const Tensor<D, bool> hidden = logical_not(logical_or(mask, blind));
  return masked_fill(zeros<D, T>(mask.shape(), mask.device()), hidden, -std::numeric_limits<double>::infinity());
}

/// Attention with all its options by the device's library. Undefined if that does not compute it.
template <class D, class T, class Mask>
Tensor<D, T> whole_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                             const Tensor<D, Mask>& mask, const AttentionOptions& options, bool grouped,
                             CallSite here) {
  const bool has_mask = mask.defined();
  if (options.dropout_p >= 1 || !equal_outer_batches(query, key, value, grouped)) return {};
  if (has_mask && (mask.dim() > query.dim() || (query.dim() > 4 && mask.dim() > 3) || mask.size(-1) != key.size(-2)))
    return {};
  const Tensor<D, T> q = with_heads(query), k = with_heads(key), v = with_heads(value);
  const double scale = options.scale.value_or(1 / std::sqrt(double(query.size(-1)))),
               dropout_p = std::max(options.dropout_p, 0.0);
  Tensor<D, bool> blind;
  Tensor<D, T> bias;
  if (has_mask) {
    Tensor<D, Mask> m = with_heads(mask);
    for (int i = 0; i < 3; ++i)
      if (m.size(i) != 1 && m.size(i) != q.size(i)) return {};
    if constexpr (std::is_same_v<Mask, bool>) {
      blind = logical_not(any(m, -1, true));
      bias = scores_bias<T>(m, blind);
    } else {
      // cuDNN's gradient of a bias does not sum over the queries.
      if (m.size(2) != q.size(2) && records(m)) m = broadcast_to(m, {m.size(0), m.size(1), q.size(2), m.size(3)}, here);
      blind = blind_queries(m);
      bias = scores_bias(m, blind);
    }
  }
  Tensor<D, T> y = library_attention(q, k, v, bias, scale, dropout_p, options.is_causal, here);
  if (!y.defined()) return y;
  if (has_mask) y = masked_fill(y, blind, 0, here);
  if (query.dim() == 4) return y;
  Shape shape = query.shape();
  shape[shape.n - 1] = value.size(-1);
  return reshape(y, shape, here);
}

}  // namespace detail

/// softmax(Q Kᵀ scale + mask) V over the last two dimensions: queries [.., m, e], keys [.., n, e], values [.., n, v]. A
/// boolean mask [.., m, n] is true where a query sees a key; a mask of numbers is added. A query that sees no key gives
/// zeros.
template <Device D, Floating T, class Mask = T>
Tensor<D, T> scaled_dot_product_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                                          const Tensor<D, Mask>& mask = {}, const AttentionOptions& options = {},
                                          CallSite here = {}) {
  const CallSite op{"scaled_dot_product_attention", here};
  const CallScope scope(op);
  if (options.attn_mask.defined()) Error::fail(op, {"two masks: an argument, and the option attn_mask"});
  if (query.checked(op)->ndim < 2 || key.checked(op)->ndim < 2 || value.checked(op)->ndim < 2)
    Error::fail(op, {"at least two dimensions are needed: ", query.shape(), ", ", key.shape(), ", ", value.shape()});
  if (query.size(-1) != key.size(-1) || key.size(-2) != value.size(-2))
    Error::fail(op, {"keys ", key.shape(), " must have the size of queries ", query.shape(),
                     " and the number of values ", value.shape()});
  if (mask.defined() && options.is_causal) Error::fail(op, {"a mask and is_causal exclude each other"});
  Tensor<D, T> k = key, v = value;
  Index group = 1;
  if (options.enable_gqa) {
    const auto heads = [](const Tensor<D, T>& x) { return x.dim() > 2 ? x.size(-3) : 1; };
    if (query.dim() < 3 || heads(k) == 0 || heads(query) % heads(k) || heads(k) != heads(v))
      Error::fail(op, {"heads of keys ", key.shape(), " and values ", value.shape(), " do not divide those of ",
                       query.shape()});
    group = heads(query) / heads(k);
  }
  if constexpr (detail::backend::HasKernel<D, detail::backend::LibraryAttention, T> &&
                (std::is_same_v<Mask, bool> || std::is_same_v<Mask, T>)) {
    // Tokens that a text goes on with see more keys each time, and each number of keys would be another plan of the
    // library's. Its gradient is calculated from the rounded output, which of few queries is too inexact.
    if (query.size(-2) >= 16 && has_library_attention(detail::backend::On<D>{}, *query.impl(), *value.impl()))
      if (const Tensor<D, T> y = detail::whole_attention(query, k, v, mask, options, group > 1, here); y.defined())
        return y;
  }
  if (group > 1) {
    const auto heads = [](const Tensor<D, T>& x) { return x.size(-3); };
    if (!mask.defined() && !options.is_causal) {
      // All queries see the same keys, so a group's heads are one head with the queries of all of them.
      const Tensor<D, T> queries = flatten(unflatten(query, -3, {heads(k), group}, here), -3, -2, here);
      AttentionOptions plain = options;
      plain.enable_gqa = false;
      const Tensor<D, T> y = scaled_dot_product_attention(queries, k, v, mask, plain, here);
      return flatten(unflatten(y, -2, {group, query.size(-2)}, here), -4, -3, here);
    }
    k = repeat_interleave(k, group, -3, here), v = repeat_interleave(v, group, -3, here);
  }
  if constexpr (detail::backend::HasKernel<D, detail::backend::TokenAttention, T>)  // 16-bit keys need no conversion
    if (!mask.defined() && !options.is_causal && options.dropout_p <= 0 && detail::fits_token_kernel(query, k, v))
      return detail::token_attention(query, k, v, options.scale.value_or(1 / std::sqrt(double(query.size(-1)))));
  if constexpr (detail::is_half_v<T> &&
                detail::backend::HasKernel<D, detail::backend::Attention, T>)  // nor do they for blocks
    if (!mask.defined() && options.dropout_p <= 0 && detail::fits_attention_kernel(query, k, v, options.is_causal))
      return detail::fused_attention(query, k, v, options.scale.value_or(1 / std::sqrt(double(query.size(-1)))),
                                     options.is_causal, here);
  const auto attend = [&](const auto& q, const auto& keys, const auto& values, const auto& m) {
    return detail::attention(q, keys, values, m, options, here);
  };
  // Without a key, softmax would give NaN. So a blind query sees all keys, and its result is replaced with 0.
  const auto attend_seeing = [&](const auto& q, const auto& keys, const auto& values, const auto& m) {
    const auto blind = detail::blind_queries(m);
    return masked_fill(attend(q, keys, values, masked_fill(m, blind, 0, here)), blind, 0, here);
  };
  if (!mask.defined())  // a boolean mask is not converted
    return detail::rounded_once(
        [&](const auto& q, const auto& keys, const auto& values) { return attend(q, keys, values, Tensor<D, bool>()); },
        query, k, v);
  if constexpr (std::is_same_v<Mask, bool>)
    return detail::rounded_once(
        [&](const auto& q, const auto& keys, const auto& values) { return attend(q, keys, values, mask); }, query, k,
        v);
  else return detail::rounded_once(attend_seeing, query, k, v, mask);
}
/// The same without a mask.
template <Device D, Floating T, std::same_as<AttentionOptions> Options = AttentionOptions>
Tensor<D, T> scaled_dot_product_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                                          const Options& options, CallSite here = {}) {
  if (options.attn_mask.defined()) {
    const CallScope scope({"scaled_dot_product_attention", here});
    AttentionOptions others = options;
    others.attn_mask = {};
    if (options.attn_mask.template is<D, bool>())
      return scaled_dot_product_attention(query, key, value, options.attn_mask.template as<D, bool>(), others);
    return scaled_dot_product_attention(query, key, value, options.attn_mask.template as<D, T>(), others);
  }
  return scaled_dot_product_attention(query, key, value, Tensor<D, T>(), options, here);
}
template <Device D, Floating T, class Mask = T>
Tensor<D, T> scaled_dot_product_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                                          const Tensor<D, Mask>& mask, detail::RealNumber dropout_p,
                                          detail::Positional<bool> is_causal = false, CallSite here = {}) {
  return scaled_dot_product_attention(query, key, value, mask, {.dropout_p = dropout_p, .is_causal = is_causal}, here);
}

}}  // namespace tern
