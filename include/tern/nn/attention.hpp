// Multi-head attention (Vaswani et al.: "Attention is all you need", 2017).
#pragma once
#include <cmath>

#include "../ops/attention.hpp"
#include "../ops/random.hpp"
#include "linear.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct MultiheadAttentionOptions {
  tern::detail::ByName by_name{};
  double dropout = 0;  // dropout of the attention weights in training
  bool bias = true;
  bool batch_first = false;
};

/// The masks of a call, with PyTorch's names. key_padding_mask [batch, keys], or [keys] without a batch, is true for
/// keys that no query sees. attn_mask [queries, keys], or [batch heads, queries, keys], is true where a query does not
/// see a key, or has numbers that are added.
template <Device D>
struct AttentionMasks {
  tern::detail::ByName by_name{};
  Tensor<D, bool> key_padding_mask = {};
  AnyTensor attn_mask = {};
  bool is_causal = false;
};

/// The same for a call that returns the weights too.
template <Device D>
struct AttentionWeightsOptions {
  tern::detail::ByName by_name{};
  Tensor<D, bool> key_padding_mask = {};
  AnyTensor attn_mask = {};
  bool average_attn_weights = true;  // over the heads
  bool is_causal = false;
};

template <Device D, Element T>
struct OutputAndWeights {
  Tensor<D, T> output, weights;
};

/// Queries, keys and values are projected and split into heads. Each head applies attention; the results are
/// concatenated and projected again. Inputs are [length, batch, embed_dim]; with batch_first, [batch, length,
/// embed_dim]; or have no batch. One weight holds the three input projections. It starts uniform in ±√(6 / (4
/// embed_dim)) (Glorot, Bengio, 2010); biases start as zeros.
template <Device D, Element T = float>
struct MultiheadAttention : ModuleOf<MultiheadAttention<D, T>, D, T> {
  Index embed_dim = 0, num_heads = 0;
  double dropout = 0;
  bool batch_first = false;
  Parameter<D, T> in_proj_weight, in_proj_bias;
  Linear<D, T> out_proj;

  MultiheadAttention(Index size, Index heads, MultiheadAttentionOptions options = {}, CallSite here = {})
      : embed_dim(size), num_heads(heads), dropout(options.dropout), batch_first(options.batch_first),
        out_proj(size, size, {.bias = options.bias}, here) {
    const CallScope scope(here);
    if (heads <= 0 || size % heads != 0)
      Error::fail("MultiheadAttention", {"an embedding of ", size, " cannot be cut into ", heads, " heads"});
    const double bound = std::sqrt(6 / double(4 * size));
    in_proj_weight = uniform<D, T>({3 * size, size}, -bound, bound);
    if (!options.bias) return;
    in_proj_bias = zeros<D, T>({3 * size});
    out_proj.bias = zeros<D, T>({size});
  }
  MultiheadAttention(Index size, Index heads, tern::detail::RealNumber dropout_p,
                     tern::detail::Positional<bool> has_bias = true, CallSite here = {})
      : MultiheadAttention(size, heads, {.dropout = dropout_p, .bias = has_bias}, here) {}
  TERN_LAYER(MultiheadAttention, embed_dim, num_heads, dropout, batch_first, in_proj_weight, in_proj_bias, out_proj)
  using MultiheadAttention::ModuleOf::operator();

  Tensor<D, T> forward(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value,
                       const AttentionMasks<D>& masks = {}, CallSite here = {}) const {
    const CallScope scope(here);
    check_inputs(query, key, value);
    const Tensor<D, T> q = heads_of(query, 0), k = heads_of(key, 1), v = heads_of(value, 2);
    const auto attend = [&](const auto& sees, bool causal) {
      const AttentionOptions options{.dropout_p = this->is_training() ? dropout : 0, .is_causal = causal};
      return scaled_dot_product_attention(q, k, v, sees, options);
    };
    return joined(query, masked(q, k, masks.attn_mask, masks.is_causal, masks.key_padding_mask, attend));
  }
  /// PyTorch's fourth argument by position is key_padding_mask, that of scaled_dot_product_attention is attn_mask.
  template <class Mask = Tensor<D, bool>, class... More>
    requires(detail::is_tensor<Mask> || sizeof...(More) > 0)
  Tensor<D, T> forward(const Tensor<D, T>&, const Tensor<D, T>&, const Tensor<D, T>&, const Mask&,
                       const More&...) const {
    static_assert(sizeof(Mask) == 0,
                  "masks are given by name: attention(q, k, v, {.key_padding_mask = p, .attn_mask = m, .is_causal = "
                  "true})");
    return {};
  }
  /// attention(q, k, v, {.attn_mask = m}).
  template <class Q, class K, class V>
  auto operator()(const Q& query, const K& key, const V& value, const AttentionMasks<D>& masks,
                  CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, query, key, value, masks);
  }
  /// forward()'s output, and the weights that the values were added with: [batch, queries, keys], the mean over the
  /// heads, or each head's, [batch, heads, queries, keys]; without a batch if the inputs have none. In training with
  /// dropout, these are the weights that it left. Slower than forward(), which does not store them.
  OutputAndWeights<D, T> forward_with_weights(const Tensor<D, T>& query, const Tensor<D, T>& key,
                                              const Tensor<D, T>& value, const AttentionWeightsOptions<D>& options = {},
                                              CallSite here = {}) const {
    const CallScope scope({"MultiheadAttention", here});
    check_inputs(query, key, value);
    const Tensor<D, T> q = heads_of(query, 0), k = heads_of(key, 1), v = heads_of(value, 2);
    const auto weigh = [&](const auto& sees, bool causal) { return weights_of(q, k, sees, causal); };
    const auto weights = masked(q, k, options.attn_mask, options.is_causal, options.key_padding_mask, weigh);
    const auto output = joined(query, rounded(matmul(weights, promoted(v))));
    const Tensor<D, T> shown = rounded(options.average_attn_weights ? mean(weights, 1) : weights);
    return {output, query.dim() == 2 ? select(shown, 0, 0) : shown};
  }

 private:
  void check_inputs(const Tensor<D, T>& query, const Tensor<D, T>& key, const Tensor<D, T>& value) const {
    const tern::detail::Shape q = query.checked("MultiheadAttention")->shape(),
                              k = key.checked("MultiheadAttention")->shape(),
                              v = value.checked("MultiheadAttention")->shape();
    const int batch = batch_first ? 0 : 1;
    if (q.n != k.n || k.n != v.n || !std::equal(k.begin(), k.begin() + std::max(k.n - 1, 0), v.begin()) ||
        (q.n == 3 && q[batch] != k[batch]))
      Error::fail("MultiheadAttention",
                  {"a query of shape ", q, " does not go with a key of shape ", k, " and a value of shape ", v,
                   ": they have one batch, and keys and values one length"});
  }
  /// Projection `part` of x, as [batch, heads, length, embed_dim / heads].
  Tensor<D, T> heads_of(const Tensor<D, T>& x, Index part) const {
    if (x.checked("MultiheadAttention")->ndim < 2 || x.dim() > 3 || x.size(-1) != embed_dim)
      Error::fail("MultiheadAttention", {"an input of shape ", x.shape(), " for an embedding of ", embed_dim});
    const Tensor<D, T> rows = x.dim() == 2 ? unsqueeze(x, 0) : batch_first ? x : transpose(x, 0, 1);
    const auto of_part = [&](const Tensor<D, T>& whole) { return narrow(whole, 0, part * embed_dim, embed_dim); };
    const Tensor<D, T> bias = in_proj_bias.defined() ? of_part(in_proj_bias) : Tensor<D, T>();
    return transpose(unflatten(linear(rows, of_part(in_proj_weight), bias), 2, {num_heads, embed_dim / num_heads}), 1,
                     2);
  }
  /// The mask as [batch, 1, 1, keys].
  static Tensor<D, bool> of_heads(const Tensor<D, bool>& key_padding_mask, const Tensor<D, T>& keys) {
    const Index batch = keys.size(0), length = keys.size(-2);
    const bool fits = key_padding_mask.dim() == 2
                          ? key_padding_mask.shape() == tern::detail::Shape{batch, length}
                          : batch == 1 && key_padding_mask.shape() == tern::detail::Shape{length};
    if (!fits)
      Error::fail("MultiheadAttention",
                  {"a key_padding_mask of shape ", key_padding_mask.shape(), " for ", batch, " x ", length, " keys"});
    return reshape(key_padding_mask, {batch, 1, 1, length});
  }
  /// The mask as [queries, keys] or [batch, heads, queries, keys].
  template <class Mask>
  Tensor<D, Mask> of_batch(const Tensor<D, Mask>& mask, const Tensor<D, T>& keys) const {
    if (mask.dim() != 3) return mask;
    if (mask.size(0) != keys.size(0) * num_heads)
      Error::fail("MultiheadAttention",
                  {"an attn_mask of shape ", mask.shape(), " for ", keys.size(0), " x ", num_heads,
                   " heads: [queries, keys] or [batch heads, queries, keys] is needed"});
    return unflatten(mask, 0, {keys.size(0), num_heads});
  }
  /// A mask of numbers in the layer's elements: that of a mixed network is of floats.
  static Tensor<D, T> added(const AnyTensor& mask) {
    if constexpr (tern::detail::is_half_v<T>)
      if (mask.template is<D, float>()) return to_type(mask.template as<D, float>(), tern::detail::Type<T>{});
    return tern::detail::typed<D, T>(mask, {"MultiheadAttention", CallSite::unknown});
  }
  /// attend(sees, is_causal) with all masks as one that scaled_dot_product_attention takes.
  template <class F>
  auto masked(const Tensor<D, T>& q, const Tensor<D, T>& k, const AnyTensor& attn_mask, bool is_causal,
              const Tensor<D, bool>& key_padding_mask, const F& attend) const {
    Tensor<D, bool> hidden;
    Tensor<D, T> bias;
    if (attn_mask.defined()) {
      if (attn_mask.dtype() == DType::bool_) hidden = of_batch(attn_mask.template as<D, bool>(), k);
      else bias = of_batch(added(attn_mask), k);
    }
    if (key_padding_mask.defined()) {
      const Tensor<D, bool> padding = of_heads(key_padding_mask, k);
      hidden = hidden.defined() ? logical_or(padding, hidden) : padding;
      if (is_causal) hidden = logical_or(hidden, triu(ones<D, bool>({q.size(-2), k.size(-2)}, q.device()), 1));
      is_causal = false;
      if (bias.defined()) {
        bias = where(hidden, -std::numeric_limits<double>::infinity(), bias);
        hidden = {};
      }
    }
    return hidden.defined() ? attend(logical_not(hidden), is_causal) : attend(bias, is_causal);
  }
  /// The weights [batch, heads, queries, keys], after dropout. A query that sees no key has zeros.
  template <class Mask>
  Tensor<D, compute_t<T>> weights_of(const Tensor<D, T>& q, const Tensor<D, T>& k, const Tensor<D, Mask>& sees,
                                     bool is_causal) const {
    if (sees.defined() && is_causal) Error::fail("MultiheadAttention", {"a mask and is_causal exclude each other"});
    const double scale = 1 / std::sqrt(double(q.size(-1)));
    const auto weigh = [&](const auto& mask) {
      return tern::detail::attention_weights(promoted(q), promoted(k), mask, scale, is_causal, CallSite::unknown);
    };
    Tensor<D, compute_t<T>> weights;
    if constexpr (std::is_same_v<Mask, bool>) {
      weights = weigh(sees);
    } else if (!sees.defined()) {
      weights = weigh(Tensor<D, bool>());
    } else {
      const Tensor<D, bool> blind = tern::detail::blind_queries(sees);
      weights = masked_fill(weigh(promoted(masked_fill(sees, blind, 0))), blind, 0);
    }
    return this->is_training() && dropout > 0 ? tern::dropout(weights, dropout, true) : weights;
  }
  static Tensor<D, compute_t<T>> promoted(const Tensor<D, T>& x) {
    return to_type(x, tern::detail::Type<compute_t<T>>{});
  }
  static Tensor<D, T> rounded(const Tensor<D, compute_t<T>>& x) { return to_type(x, tern::detail::Type<T>{}); }
  /// The projection of the heads' results, [batch, heads, length, embed_dim / heads], in the order of `query`.
  Tensor<D, T> joined(const Tensor<D, T>& query, const Tensor<D, T>& results) const {
    Tensor<D, T> y = flatten(transpose(results, 1, 2), 2);
    if (query.dim() == 2) y = select(y, 0, 0);
    else if (!batch_first) y = transpose(y, 0, 1);
    return linear(y, out_proj.weight, out_proj.bias);
  }
};

}}}  // namespace tern::nn
