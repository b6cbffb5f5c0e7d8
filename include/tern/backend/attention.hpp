// The contract: attention whose scores are not stored in memory. All arrays are dense and of one floating type, but
// log_sums of what it calculates with: queries [.., queries, size], keys [.., keys, size], values [.., keys, width]. No
// size is 0. A device need not implement it; then the op is two matrix products and a softmax. A device that does says
// by attention_pays(On<D>, AttentionSizes, causal) for which sizes it can and is the faster way.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: out = softmax(Q Kᵀ scale) V for each matrix of the batch.
struct Attention {
  const Array& out;
  const Array& log_sums;  // the logarithm of the sum of exponentials, for each query
  const Array& q;
  const Array& k;
  const Array& v;
  double scale;
  bool causal;  // query i sees keys 0 … i
};

/// run<D, T>: the gradients from out's gradient g. log_sums serves to calculate the weights again. Each of the three
/// gradients may be null.
struct AttentionGradient {
  const Array* dq;
  const Array* dk;
  const Array* dv;
  const Array& g;
  const Array& out;
  const Array& log_sums;
  const Array& q;
  const Array& k;
  const Array& v;
  double scale;
  bool causal;
};

/// run<D, T>: out = softmax(Q Kᵀ scale) V for a few queries in each matrix, as those of the token that a text goes on
/// with, without what a gradient needs. Queries are dense. The rows of keys and values are, and one stride steps
/// through the batch of each.
struct TokenAttention {
  const Array& out;
  const Array& q;
  const Array& k;
  const Array& v;
  double scale;
};

/// run<D, T>: attention with all options by a library of the device's, in 16 bits, of arrays as they lie: queries [b,
/// h, m, e], keys [b, h', n, e] and values [b, h', n, w], where h is a multiple of h', and head i uses keys i h' / h.
/// The last dimension of each is dense. A device without such a library does not implement it. A device that does says
/// by has_library_attention(On<D>, q, v) for which heads a library is there, and sets `refused` where that does not
/// compute the op, or would not compute its gradient.
struct LibraryAttention {
  const Array& out;
  const Array* log_sums;  // float [b, h, m]: what the gradient needs; null: none will be asked for
  const Array& q;
  const Array& k;
  const Array& v;
  const Array* bias;   // [b or 1, h or 1, m or 1, n], added to the scores; may be null
  bool bias_gradient;  // whether it will be asked for
  double scale;
  bool causal;          // query i sees keys 0 … i
  double dropout_p;     // of the weights, below 1; the others are divided by 1 - p
  const Array* random;  // two numbers, at 0 and 2 of four of type Index, that dropout follows from; null: no dropout
  bool& refused;
};

/// run<D, T>: its gradients. g lies as out, dbias is row-major and may be null.
struct LibraryAttentionGradient {
  const Array& dq;
  const Array& dk;
  const Array& dv;
  const Array* dbias;
  const Array& g;
  const LibraryAttention& forward;
};

/// Whether the heads of an array [b, h, n, d] alternate in memory: as those of [b, n, h, d], transposed.
inline bool heads_alternate(const Array& x) { return x.dims[1] > 1 && x.strides[1] < x.strides[2]; }

/// The most queries of TokenAttention. Products of more queries are faster; in 16 bits, keys and values must first be
/// converted for them.
template <class T>
inline constexpr Index few_queries = detail::is_half_v<T> ? 4 : 1;

/// The sizes that the arrays' shapes give.
struct AttentionSizes {
  Index batch, queries, keys, size, width;
  DType dtype;
  int ordinal;  // the device

  AttentionSizes(const Array& q, const Array& k, const Array& v)
      : queries(q.dims[q.ndim - 2]), keys(k.dims[k.ndim - 2]), size(q.dims[q.ndim - 1]), width(v.dims[v.ndim - 1]),
        dtype(q.dtype), ordinal(q.ordinal) {
    batch = q.numel / (queries * size);
  }

  /// How many pairs of a query and a key it sees are in a matrix of the batch.
  double pairs(bool causal) const {
    const double full = double(queries) * double(keys);
    if (!causal) return full;
    const double growing =
        double(queries < keys ? queries : keys);  // queries that see one key more than the query before
    return full - growing * (double(keys) - 0.5 * (growing + 1));
  }
};

}}}  // namespace tern::detail::backend
