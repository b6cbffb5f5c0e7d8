// Scaled dot-product attention (Vaswani et al.: "Attention is all you need", 2017).
#pragma once
#include <cmath>

#include "../backend/attention.hpp"
#include "dropout.hpp"
#include "matmul.hpp"
#include "softmax.hpp"
#include "take.hpp"
#include "triangle.hpp"
#include "support/wide.hpp"

namespace tern::inline TERN_BUILD {

struct AttentionOptions {
  double dropout_p = 0;
  bool is_causal = false;         // query i sees keys 0 … i
  std::optional<double> scale{};  // by default 1 / √(size of a query)
  bool enable_gqa = false;        // allows fewer key heads than query heads; each key head serves a group of consecutive query heads
};

namespace detail {

/// True for a query that a mask of numbers, whose row is all -infinity, shows no key. The last dimension has size 1.
template <class D, class T>
Tensor<D, bool> blind_queries(const Tensor<D, T>& mask) {
  const auto is_lowest = [](auto v) { return v == -std::numeric_limits<double>::infinity(); };
  return reduce<backend::Maximum, T, bool>("scaled_dot_product_attention", identity, is_lowest, {-1}, true, mask);
}
TERN_INSTANCE(Tensor<Cpu, bool> blind_queries(const Tensor<Cpu>&))

/// softmax(Q Kᵀ scale + mask). All have one type, but a mask may be boolean.
template <class D, class T, class Mask>
Tensor<D, T> attention_weights(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, Mask>& mask,
                               double scale, bool is_causal, Here here) {
  Tensor<D, T> scores = matmul(mul(query, scale, here), transpose(key, -2, -1, here), here);
  Tensor<D, bool> hidden;
  if (is_causal) hidden = eq(tril(ones<D, bool>({query.size(-2), key.size(-2)}, query.device())), false);
  if constexpr (std::is_same_v<Mask, bool>) {
    if (mask.defined()) hidden = eq(mask, false);
  } else {
    if (mask.defined()) scores = add(scores, mask, here);
  }
  if (hidden.defined()) scores = masked_fill(scores, hidden, -std::numeric_limits<double>::infinity(), here);
  const Tensor<D, T> weights = softmax(scores, -1, here);
  // Without this, a query whose keys are all hidden would give NaN.
  return hidden.defined() && mask.defined() ? masked_fill(weights, hidden, 0, here) : weights;
}

/// Counts a kernel's products, for the pairs that a query sees: so many with queries or keys, and so many with values or their gradients.
inline void count_attention(const Array& q, const Array& k, const Array& v, bool causal, int of_size, int of_width) {
  const backend::AttentionSizes s(q, k, v);
  count_products(of_size + of_width, 2 * double(s.batch) * s.pairs(causal) * (double(of_size) * double(s.size) + double(of_width) * double(s.width)));
}

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
         attention_pays(backend::On<D>{}, backend::AttentionSizes(*query.impl(), *key.impl(), *value.impl()), is_causal);
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
    // The scores again, the slope of the weights, and each gradient.
    count_attention(*query.impl(), *key.impl(), *value.impl(), is_causal, 1 + needs[0] + needs[1], (needs[0] || needs[1]) + needs[2]);
    return {dq, dk, dv};
  }
  /// The same as differentiable tensor operations.
  std::tuple<X, X, X> differentiable_gradient(const X& g, NeedsInputGrad needs, double scale, bool is_causal) const {
    using Y = Tensor<D, compute_t<T>>;
    const auto wide = [](const X& x) { return to_type(x, Type<compute_t<T>>{}); };
    const Y q = wide(query), k = wide(key), weights = attention_weights(q, k, Y(), scale, is_causal, {});
    const Y slope = matmul(wide(g), wide(value).mT());
    const Y ds = weights * (slope - sum(weights * slope, -1, true)) * scale;
    const auto product = [](bool needed, const Y& a, const Y& b) { return needed ? to_type(matmul(a, b), Type<T>{}) : X(); };
    return {product(needs[0], ds, k), product(needs[1], ds.mT(), q), product(needs[2], weights.mT(), wide(g))};
  }
};

/// softmax(Q Kᵀ scale) V by the device's fused kernel.
template <class D, class T>
Tensor<D, T> fused_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                             double scale, bool is_causal, Here here) {
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
             [scale, is_causal](const auto& g, const auto& q, const auto& k, const auto& v, const auto& output, const auto& sums,
                                NeedsInputGrad needs) {
               const AttentionState<D, T> state{q, k, v, output, sums};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs, scale, is_causal)
                                             : state.gradient(g, needs, scale, is_causal);
             }));
  return y;
}

/// True if the device has a kernel for few queries and their matrices lie as it wants them.
template <class D, class T>
bool fits_token_kernel(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value) {
  if (!equal_batches(query, key, value) || query.size(-2) > backend::few_queries<T> || records(query, key, value)) return false;
  const auto rows_are_dense = [](const Array& x) {
    Index stride;
    return (x.strides[x.ndim - 1] == 1 || x.dims[x.ndim - 1] == 1) && backend::one_batch_stride(x, stride);
  };
  return rows_are_dense(*key.impl()) && rows_are_dense(*value.impl());
}

template <class D, class T>
Tensor<D, T> token_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value, double scale) {
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
                       const Tensor<D, Mask>& mask, const AttentionOptions& options, Here here) {
  const double scale = options.scale.value_or(1 / std::sqrt(double(query.size(-1))));
  if constexpr (backend::HasKernel<D, backend::Attention, T>)
    if (!mask.defined() && options.dropout_p <= 0 && fits_attention_kernel(query, key, value, options.is_causal))
      return fused_attention(query, key, value, scale, options.is_causal, here);
  Tensor<D, T> weights = attention_weights(query, key, mask, scale, options.is_causal, here);
  if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, true, here);
  return matmul(weights, value, here);
}

}  // namespace detail

/// softmax(Q Kᵀ scale + mask) V over the last two dimensions: queries [.., m, e], keys [.., n, e], values [.., n, v]. A
/// boolean mask [.., m, n] is true where a query sees a key; a mask of numbers is added. A query that sees no key gives
/// zeros.
template <Device D, Floating T, class Mask = T>
Tensor<D, T> scaled_dot_product_attention(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                                          const Tensor<D, Mask>& mask = {}, const AttentionOptions& options = {},
                                          Here here = {}) {
  const OpName op{"scaled_dot_product_attention", here};
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
    const Index group = heads(query) / heads(k);
    if (group > 1 && !mask.defined() && !options.is_causal) {
      // All queries see the same keys, so a group's heads are one head with the queries of all of them.
      const Tensor<D, T> queries = flatten(unflatten(query, -3, {heads(k), group}, here), -3, -2, here);
      AttentionOptions plain = options;
      plain.enable_gqa = false;
      const Tensor<D, T> y = scaled_dot_product_attention(queries, k, v, mask, plain, here);
      return flatten(unflatten(y, -2, {group, query.size(-2)}, here), -4, -3, here);
    }
    if (group > 1) k = repeat_interleave(k, group, -3, here), v = repeat_interleave(v, group, -3, here);
  }
  if constexpr (backend::HasKernel<D, backend::TokenAttention, T>)  // 16-bit keys need no conversion
    if (!mask.defined() && !options.is_causal && options.dropout_p <= 0 && detail::fits_token_kernel(query, k, v))
      return detail::token_attention(query, k, v, options.scale.value_or(1 / std::sqrt(double(query.size(-1)))));
  if constexpr (is_half_v<T> && backend::HasKernel<D, backend::Attention, T>)  // nor do they for blocks
    if (!mask.defined() && options.dropout_p <= 0 && detail::fits_attention_kernel(query, k, v, options.is_causal))
      return detail::fused_attention(query, k, v, options.scale.value_or(1 / std::sqrt(double(query.size(-1)))), options.is_causal, here);
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
  else
    return detail::rounded_once(attend_seeing, query, k, v, mask);
}

}  // namespace tern
