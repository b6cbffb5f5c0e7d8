// Attention of a few queries takes as long as reading the keys and values, so these are read where they lie and in
// their own type. One matrix of the batch is one task. Its queries come one after the other, and its scores stay in the
// cache.
#pragma once
#include "../attention.hpp"
#include "../matmul.hpp"
#include "matmul/small_matmul.hpp"
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Adds U registers of the rows of v, each times its weight, to `sums`.
template <int U, class T>
void add_weighed(Index keys, const compute_t<T>* weights, const T* v, Index row, compute_t<T>* sums) {
  using namespace matmul_detail;
  constexpr int W = lanes<T>;
  Lanes<T, W> total[U] = {};
  for (Index j = 0; j < keys; ++j)
    for (int u = 0; u < U; ++u) total[u] += weights[j] * load<W>(v + j * row + u * W);
  std::memcpy(sums, total, sizeof total);
}

/// weights [keys] v [keys, width], of one query.
template <class T>
void weighed_sum(Index keys, Index width, const compute_t<T>* weights, const T* v, Index row, compute_t<T>* sums) {
  constexpr int W = matmul_detail::lanes<T>;
  Index i = 0;
  for (; i + 4 * W <= width; i += 4 * W) add_weighed<4>(keys, weights, v + i, row, sums + i);
  for (; i + W <= width; i += W) add_weighed<1>(keys, weights, v + i, row, sums + i);
  for (; i < width; ++i) {
    compute_t<T> sum = 0;
    for (Index j = 0; j < keys; ++j) sum += weights[j] * compute_t<T>(v[j * row + i]);
    sums[i] = sum;
  }
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const TokenAttention& op) {
  using namespace cpu_kernels;
  using S = compute_t<T>;
  using V = detail::expr::packet_t<S>;
  const AttentionSizes s(op.q, op.k, op.v);
  const Index k_row = op.k.strides[op.k.ndim - 2], v_row = op.v.strides[op.v.ndim - 2];
  const Index k_matrix = batch_stride(op.k), v_matrix = batch_stride(op.v);
  const auto strip = Strip<V>::along_row(s.keys);
  detail::parallel_for(
      s.batch, std::max<Index>(1, (1 << 13) / (s.queries * s.keys * (s.size + s.width))), [&](Index first, Index last) {
        const Workspace<S> scratch(s.keys + s.width);
        S *const weights = scratch.get(), *const sums = weights + s.keys;
        for (Index matrix = first; matrix < last; ++matrix) {
          const T *const k = op.k.as<T>() + matrix * k_matrix, *const v = op.v.as<T>() + matrix * v_matrix;
          for (Index i = matrix * s.queries; i < (matrix + 1) * s.queries; ++i) {
            for (Index j = 0; j < s.keys; ++j)
              weights[j] = matmul_detail::dot(s.size, op.q.as<T>() + i * s.size, k + j * k_row) * S(op.scale);
            const V largest = strip_maximum(strip, static_cast<const S*>(weights));
            const S total = strip_exp_sum(strip, static_cast<const S*>(weights), largest, weights).v[0];
            weighed_sum(s.keys, s.width, weights, v, v_row, sums);
            for (Index u = 0; u < s.width; ++u) op.out.as<T>()[i * s.width + u] = T(sums[u] / total);
          }
        }
      });
}

}  // namespace detail::backend
}}  // namespace tern
