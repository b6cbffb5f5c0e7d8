// The contract: attention whose scores never reach memory. All arrays are dense, of one floating type T. A device
// may implement
//
//   attention<T>(device, shape, out, log_sums, q, k, v)
//   attention_gradient<T>(device, shape, dq, dk, dv, g, out, log_sums, q, k, v)
//
// with out = softmax(Q Kᵀ scale) V for each matrix of the batch and log_sums, the logarithm of each query's sum of
// exponentials, which the gradient makes the weights anew from. dq, dk and dv may each be null. No size is 0. Where
// has_attention is false the op is products and a softmax.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/config.hpp"
#include "../core/array.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

/// Queries [batch, queries, size], keys [batch, keys, size], values [batch, keys, width].
struct AttentionShape {
  Index batch, queries, keys, size, width;
  double scale;
  bool causal;  // query i sees the keys 0 … i
};

/// Whether a device implements it.
template <class D>
inline constexpr bool has_attention = false;

}  // namespace backend
}  // namespace tern
