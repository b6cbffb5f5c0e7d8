// The weights of attention as tensor operations.
#pragma once
#include "../../backend/attention.hpp"
#include "../matmul.hpp"
#include "../softmax.hpp"
#include "../triangle.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// True for a query that a mask of numbers, whose row is all -infinity, shows no key. The last dimension has size 1.
template <class D, class T>
Tensor<D, bool> blind_queries(const Tensor<D, T>& mask) {
  const auto is_lowest = [](auto v) { return v == -std::numeric_limits<double>::infinity(); };
  return reduce<backend::Maximum, T, bool>({"scaled_dot_product_attention", CallSite::unknown}, identity, is_lowest,
                                           {-1}, true, mask);
}
TERN_INSTANCE(Tensor<Cpu, bool> blind_queries(const Tensor<Cpu>&))

/// softmax(Q Kᵀ scale + mask). All have one type, but a mask may be boolean.
template <class D, class T, class Mask>
Tensor<D, T> attention_weights(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, Mask>& mask,
                               double scale, bool is_causal, CallSite here) {
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

/// Counts a kernel's products, for the pairs that a query sees: so many with queries or keys, and so many with values
/// or their gradients.
inline void count_attention(const Array& q, const Array& k, const Array& v, bool causal, int of_size, int of_width) {
  const backend::AttentionSizes s(q, k, v);
  count_products(of_size + of_width, 2 * double(s.batch) * s.pairs(causal) *
                                         (double(of_size) * double(s.size) + double(of_width) * double(s.width)));
}

}}}  // namespace tern::detail
