// Attention as a graph of cuDNN, whose flash attention computes it. cuDNN knows the graph by its pattern: these very
// products, reductions and elementwise operations, in this order.
#pragma once
#include "cudnn_graph.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

enum class AttentionBias : std::int64_t { none, added, with_gradient };

/// softmax(Q Kᵀ scale + bias) V, or its gradients, as cuDNN describes them: queries [batch, heads, queries, size], keys
/// [batch, shared_heads, keys, size], values [batch, shared_heads, keys, width]. The last dimension of each is dense; a
/// stride is that of the batch, of a head or of a position. heads is a multiple of shared_heads.
struct AttentionForm {
  CudnnType type = cudnn_float;
  bool backward = false;
  bool causal = false;      // query i sees keys 0 … i
  bool statistics = false;  // whether the forward pass keeps what the backward pass needs
  bool deterministic = false;
  AttentionBias has_bias = AttentionBias::none;
  double scale = 1, dropout = 0;
  std::int64_t batch = 0, heads = 0, shared_heads = 0, queries = 0, keys = 0, size = 0, width = 0;
  std::int64_t q[3] = {}, k[3] = {}, v[3] = {}, out[3] = {};
  std::int64_t bias_sizes[3] = {}, bias[3] = {};    // a size is 1 where the bias is broadcast
  std::int64_t dq[3] = {}, dk[3] = {}, dv[3] = {};  // the gradient of `out` lies as `out`

  /// Whether parts of dq are added up in float as they come. Otherwise its sums have one order, and dbias needs that
  /// way too.
  bool adds_up_dq() const { return backward && !deterministic && has_bias != AttentionBias::with_gradient; }
  bool operator==(const AttentionForm&) const = default;
  std::uint64_t hash() const { return tern::detail::hash_words(this, sizeof *this / sizeof(std::uint64_t)); }
  GraphRules rules() const { return {.deterministic = deterministic}; }
  TERN_API CudnnGraph graph() const;
};
static_assert(sizeof(AttentionForm) == 38 * sizeof(std::uint64_t), "padding would be hashed");

/// The addresses of attention's elements. log_sums, dbias and others that the form does not have are null.
struct AttentionMemory {
  const void *q, *k, *v, *bias;
  void *out, *log_sums;  // log_sums: float [batch, heads, queries], row-major
  const std::int64_t *seed, *offset;
  const void* g = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr, *dbias = nullptr;  // dbias: row-major, of the bias's sizes
};

/// Whether cuDNN computes it on the device.
TERN_API bool has_cudnn_attention(int ordinal, const AttentionForm& form);

/// Runs it on the device's stream. False if cuDNN does not support it.
TERN_API bool run_cudnn_attention(int ordinal, const AttentionForm& form, const AttentionMemory& memory);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "cudnn_attention.ipp"
#endif
