// Attention by blocks of queries and keys, whose scores stay in the cache. When a later block has a larger score, the
// softmax of the earlier ones is rescaled. The backward pass calculates the weights again instead of reading them (Dao,
// Fu, Ermon, Rudra, Ré: "FlashAttention: fast and memory-efficient exact attention with IO-awareness", 2022).
#pragma once
#include "../attention.hpp"
#include "matmul/matmul.hpp"
#include "loops/copy.hpp"
#include "softmax.hpp"
#include "tile_attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

using matmul_detail::multiply_tile;

/// The number of queries and of keys in a block. Both are multiples of every type's tile, in rows and in columns. The
/// queries of one task share the transposed keys.
inline constexpr Index query_block = 96, key_block = 384, query_chunk = 10 * query_block;

/// n elements times a factor, calculated in S, then zeros up to `padded`.
template <class S, class To, class From>
void copy_padded(To* to, const From* from, Index n, Index padded, S factor = 1) {
  using V = detail::expr::packet_t<S>;
  Strip<V>::along_row(n).each([&](Index at, int lanes) __attribute__((always_inline)) {
    store_lanes(to + at, lanes, load_lanes<V>(from + at, lanes, 0) * factor);
  });
  std::fill(to + n, to + padded, To(0));
}

/// Everything that the gradient of one matrix of a batch needs, except a block's working memory. E is the tensors'
/// type, T that of the calculation.
template <class T, class E>
struct MatrixGradient {
  const E *q, *g, *out;
  const T *k_columns, *v_columns, *k, *log_sums;
  E* dq;  // in its final layout, the others padded to whole tiles; each may be null
  T *dk, *dv;
};

/// The block operations for one matrix of a batch. A tile has R rows and C columns.
template <class T>
struct AttentionKernel {
  static constexpr Index R = matmul_detail::BlockSizes<T>::rows, C = matmul_detail::BlockSizes<T>::columns;
  using V = detail::expr::packet_t<T>;

  AttentionSizes sizes;
  double scale;
  bool causal;
  Index size, width;  // of rows in working memory, padded to whole strips

  /// For Attention or its gradient.
  template <class Op>
  explicit AttentionKernel(const Op& op)
      : sizes(op.q, op.k, op.v), scale(op.scale), causal(op.causal), size((sizes.size + C - 1) / C * C),
        width((sizes.width + C - 1) / C * C) {}

  /// Scores [rows, keys] of rows [.., length] and transposed columns (see transposed()).
  [[gnu::noinline]] static void scores(Index rows, Index keys, Index length, const T* a, Index a_row, const T* columns,
                                       T* to) {
    for (Index j = 0; j < keys; j += C)
      for (Index i = 0; i < rows; i += R)
        multiply_tile<T, R, 2, false>(length, a + i * a_row, a_row, 1, columns + j * length, C, to + i * key_block + j,
                                      key_block);
  }
  /// Adds weights [rows, keys] b [keys, columns] to `to` [rows, columns].
  [[gnu::noinline]] static void weigh(Index rows, Index columns, Index keys, const T* weights, const T* b, T* to) {
    for (Index j = 0; j < columns; j += C)
      for (Index i = 0; i < rows; i += R)
        multiply_tile<T, R, 2, true>(keys, weights + i * key_block, key_block, 1, b + j, columns, to + i * columns + j,
                                     columns);
  }
  /// Adds weightsᵀ [keys, rows] b [rows, columns] to `to` [keys, columns].
  [[gnu::noinline]] static void weigh_transposed(Index rows, Index columns, Index keys, const T* weights, const T* b,
                                                 T* to) {
    for (Index j = 0; j < columns; j += C)
      for (Index i = 0; i < keys; i += R)
        multiply_tile<T, R, 2, true>(rows, weights + i, 1, key_block, b + j, columns, to + i * columns + j, columns);
  }

  /// The size of the transpose of [keys, length], in strips of C keys. The last strip is padded with zeros.
  static Index transposed_size(Index keys, Index length) { return (keys + C - 1) / C * C * length; }
  [[gnu::noinline]] static void transposed(Index keys, Index length, const T* from, T* to) {
    for (Index j = 0; j < keys; j += C, from += C * length, to += C * length) {
      const Index there = std::min(C, keys - j), bytes = sizeof(T);
      if (there < C) std::fill(to, to + C * length, T(0));
      copy_transposed<sizeof(T), false>(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
                                        {length, there, C * bytes, bytes, bytes, length * bytes, int(bytes)});
    }
  }
  /// A block of rows, scaled and padded with zeros to whole tiles.
  template <class E>
  static void padded_rows(Index rows, Index length, Index padded, const E* from, T factor, T* to) {
    for (Index i = 0; i < rows; ++i) copy_padded(to + i * padded, from + i * length, length, padded, factor);
    std::fill(to + rows * padded, to + (rows + R - 1) / R * R * padded, T(0));
  }

  /// How many of the keys from `key` on are visible to query i.
  Index visible(Index i, Index key, Index keys) const {
    return causal ? std::clamp<Index>(i + 1 - key, 0, keys) : keys;
  }
  /// The end of the keys that a block of queries sees, rounded up to whole blocks of queries.
  Index end_of_keys(Index query) const { return causal ? std::min(sizes.keys, query + query_block) : sizes.keys; }

  /// The forward pass of the block of queries from `query` on, for one matrix.
  template <class E>
  void forward(Index query, const E* q, const T* columns, const T* v, E* out, T* log_sums, T* work) const {
    const Index rows = std::min(query_block, sizes.queries - query);
    T *const queries = work, *const weights = queries + query_block * size,
             *const sums = weights + query_block * key_block;
    T largest[query_block], totals[query_block];
    padded_rows(rows, sizes.size, size, q + query * sizes.size, T(scale), queries);
    std::fill(sums, sums + query_block * width, T(0));
    std::fill(largest, largest + rows, -std::numeric_limits<T>::infinity());
    std::fill(totals, totals + rows, T(0));
    const Index end = end_of_keys(query);
    for (Index key = 0; key < end; key += key_block) {
      const Index keys = std::min(key_block, end - key);
      scores(rows, keys, sizes.size, queries, size, columns + key * sizes.size, weights);
      for (Index r = 0; r < rows; ++r)
        soften(weights + r * key_block, visible(query + r, key, keys), keys, largest[r], totals[r], sums + r * width);
      weigh(rows, width, keys, weights, v + key * width, sums);
    }
    for (Index r = 0; r < rows; ++r) {
      copy_padded(out + (query + r) * sizes.width, sums + r * width, sizes.width, sizes.width, 1 / totals[r]);
      log_sums[query + r] = largest[r] + std::log(totals[r]);
    }
  }

  /// Replaces a query's scores by e^(score - largest). Sums made with a smaller maximum are rescaled.
  [[gnu::noinline]] void soften(T* x, Index seen, Index keys, T& largest, T& total, T* sums) const {
    std::fill(x + seen, x + keys, T(0));
    if (seen == 0) return;
    const auto strip = Strip<V>::along_row(seen);
    const T before = largest;
    largest = std::max(largest, strip_maximum(strip, static_cast<const T*>(x)).v[0]);
    // If all scores so far are -infinity, nothing is subtracted.
    const T shift = largest == -std::numeric_limits<T>::infinity() ? T(0) : largest;
    const T factor = exp(V(before) - V(shift)).v[0];
    total = total * factor + strip_exp_sum(strip, static_cast<const T*>(x), V(shift), x).v[0];
    if (factor != 1)
      for (Index i = 0; i < width; ++i) sums[i] *= factor;
  }

  /// Replaces a query's scores by its weights, and the products of its gradient with the values by the gradient of the
  /// scores.
  [[gnu::noinline]] static void score_gradients(T* x, T* products, Index seen, Index keys, T log_sum, T mean) {
    std::fill(x + seen, x + keys, T(0));
    std::fill(products + seen, products + keys, T(0));
    Strip<V>::along_row(seen).each([&](Index at, int lanes) __attribute__((always_inline)) {
      const V weight = exp(load_lanes<V>(x + at, lanes, 0) - V(log_sum));
      store_lanes(x + at, lanes, weight);
      store_lanes(products + at, lanes, weight * (load_lanes<V>(products + at, lanes, 0) - V(mean)));
    });
  }

  /// The sum of a query's products with its weights.
  static T weighted_sum(const T* x, const T* products, Index seen, T log_sum) {
    if (seen == 0) return 0;
    return strip_sum(Strip<V>::along_row(seen),
                     [&](Index at, int lanes) __attribute__((always_inline)) {
                       return exp(load_lanes<V>(x + at, lanes, -std::numeric_limits<T>::infinity()) - V(log_sum)) *
                              load_lanes<V>(products + at, lanes, 0);
                     })
        .v[0];
  }

  /// The part of the gradient from the block of queries from `query` on. With weights P and each query's mean m = Σ g
  /// out: dV = Pᵀ G, dS = P (G Vᵀ - m), dQ = dS K scale and dK = dSᵀ Q scale.
  template <class E>
  void backward(Index query, const MatrixGradient<T, E>& p, T* work) const {
    const Index rows = std::min(query_block, sizes.queries - query);
    T *const queries = work, *const g = queries + query_block * size, *const sums = g + query_block * width,
             *const weights = sums + query_block * size, *const ds = weights + query_block * key_block;
    T means[query_block];
    padded_rows(rows, sizes.size, size, p.q + query * sizes.size, T(scale), queries);
    padded_rows(rows, sizes.width, width, p.g + query * sizes.width, T(1), g);
    std::fill(sums, sums + query_block * size, T(0));
    const Index end = end_of_keys(query);
    const auto for_scores = [&](const auto& f) {
      for (Index key = 0; key < end; key += key_block) {
        const Index keys = std::min(key_block, end - key);
        scores(rows, keys, sizes.size, queries, size, p.k_columns + key * sizes.size, weights);
        scores(rows, keys, sizes.width, g, width, p.v_columns + key * sizes.width, ds);
        f(key, keys);
      }
    };
    if constexpr (std::is_same_v<T, E>) {
      for (Index r = 0; r < rows; ++r)
        means[r] = strip_sum(Strip<V>::along_row(sizes.width), [&](Index at, int lanes) __attribute__((always_inline)) {
                     return load_lanes<V>(p.out + (query + r) * sizes.width + at, lanes, 0) *
                            load_lanes<V>(g + r * width + at, lanes, 0);
                   }).v[0];
    } else {  // out is rounded to 16 bits, and g v - m may be much smaller than the products of which m is the mean
      std::fill(means, means + rows, T(0));
      for_scores([&](Index key, Index keys) {
        for (Index r = 0; r < rows; ++r)
          means[r] += weighted_sum(weights + r * key_block, ds + r * key_block, visible(query + r, key, keys),
                                   p.log_sums[query + r]);
      });
    }
    for_scores([&](Index key, Index keys) {
      for (Index r = 0; r < rows; ++r)
        score_gradients(weights + r * key_block, ds + r * key_block, visible(query + r, key, keys), keys,
                        p.log_sums[query + r], means[r]);
      if (p.dv) weigh_transposed(rows, width, keys, weights, g, p.dv + key * width);
      if (p.dk) weigh_transposed(rows, size, keys, ds, queries, p.dk + key * size);
      if (p.dq) weigh(rows, size, keys, ds, p.k + key * size, sums);
    });
    for (Index r = 0; p.dq && r < rows; ++r)
      copy_padded(p.dq + (query + r) * sizes.size, sums + r * size, sizes.size, sizes.size, T(scale));
  }
};

/// Rows of `length`, as numbers of type T and padded to `padded` in working memory. If neither changes anything, the
/// rows themselves.
template <class T, class E>
const T* padded_rows_of(const E* from, Index rows, Index length, Index padded, T* to) {
  if constexpr (std::is_same_v<T, E>)
    if (length == padded) return from;
  for (Index i = 0; i < rows; ++i) copy_padded<T>(to + i * padded, from + i * length, length, padded);
  return to;
}

}  // namespace cpu_kernels

/// Blocks are used where they pay. Keys and values are copied into a better order, so many queries are needed. In the
/// backward pass queries and keys are multiplied again, which costs more than reading scores that stay in the cache. A
/// causal mask saves half of that work. Tiles take so little time that blocks of bfloat16 always pay.
inline bool attention_pays(On<Cpu>, const AttentionSizes& s, bool causal) {
  if (s.dtype == DType::bfloat16 && matmul_detail::has_tiles()) return true;
  return s.queries >= 128 && (causal || s.batch * s.queries * s.keys >= 1 << 21);
}

template <class E>
void kernel(On<Cpu>, Types<E>, const Attention& op) {
  using namespace cpu_kernels;
  if constexpr (std::is_same_v<E, bfloat16>)
    if (matmul_detail::has_tiles()) return tile_attention(op);
  using T = compute_t<E>;
  const AttentionKernel<T> kernel(op);
  const AttentionSizes& s = kernel.sizes;
  const E *const q = op.q.as<E>(), *const k = op.k.as<E>(), *const v = op.v.as<E>();
  const Index chunks = (s.queries + query_chunk - 1) / query_chunk, columns = kernel.transposed_size(s.keys, s.size);
  detail::parallel_for(s.batch * chunks, 1, [&](Index first, Index last) {
    const Workspace<T> scratch(columns + s.keys * (kernel.width + kernel.size) +
                               query_block * (kernel.size + kernel.width + key_block));
    T *const values = scratch.get() + columns, *const keys = values + s.keys * kernel.width,
             *const work = keys + s.keys * kernel.size;
    for (Index task = first; task < last; ++task) {
      const Index matrix = task / chunks, query = task % chunks * query_chunk;
      kernel.transposed(s.keys, s.size, padded_rows_of(k + matrix * s.keys * s.size, s.keys, s.size, s.size, keys),
                        scratch.get());
      const T* const rows = padded_rows_of(v + matrix * s.keys * s.width, s.keys, s.width, kernel.width, values);
      for (Index i = query; i < std::min(s.queries, query + query_chunk); i += query_block)
        kernel.forward(i, q + matrix * s.queries * s.size, scratch.get(), rows,
                       op.out.as<E>() + matrix * s.queries * s.width, op.log_sums.as<T>() + matrix * s.queries, work);
    }
  });
}

/// One matrix of the batch is one task, because all its queries add to the same dk and dv.
template <class E>
void kernel(On<Cpu>, Types<E>, const AttentionGradient& op) {
  using namespace cpu_kernels;
  using T = compute_t<E>;
  using Kernel = AttentionKernel<T>;
  const Kernel kernel(op);
  const AttentionSizes& s = kernel.sizes;
  const E *const k = op.k.as<E>(), *const v = op.v.as<E>();
  const Index size = kernel.size, width = kernel.width,
              padded = s.keys + Kernel::R;  // the last tile reaches beyond the keys
  const Index k_columns = kernel.transposed_size(s.keys, s.size), v_columns = kernel.transposed_size(s.keys, s.width);
  detail::parallel_for(s.batch, 1, [&](Index first, Index last) {
    const Workspace<T> scratch(k_columns + v_columns + padded * (2 * size + width) +
                               query_block * (2 * size + width + 2 * key_block));
    T *const v_transposed = scratch.get() + k_columns, *const keys = v_transposed + v_columns,
             *const k_sums = keys + padded * size, *const v_sums = k_sums + padded * size,
             *const work = v_sums + padded * width;
    for (Index i = first; i < last; ++i) {
      const Index queries_at = i * s.queries * s.size, results_at = i * s.queries * s.width;
      const Index keys_at = i * s.keys * s.size, values_at = i * s.keys * s.width;
      kernel.transposed(s.keys, s.size, padded_rows_of(k + keys_at, s.keys, s.size, s.size, k_sums), scratch.get());
      kernel.transposed(s.keys, s.width, padded_rows_of(v + values_at, s.keys, s.width, s.width, v_sums), v_transposed);
      std::fill(k_sums, work, T(0));
      const MatrixGradient<T, E> parts{op.q.as<E>() + queries_at,
                                       op.g.as<E>() + results_at,
                                       op.out.as<E>() + results_at,
                                       scratch.get(),
                                       v_transposed,
                                       padded_rows_of(k + keys_at, s.keys, s.size, size, keys),
                                       op.log_sums.as<T>() + i * s.queries,
                                       op.dq ? op.dq->as<E>() + queries_at : nullptr,
                                       op.dk ? k_sums : nullptr,
                                       op.dv ? v_sums : nullptr};
      for (Index query = 0; query < s.queries; query += query_block) kernel.backward(query, parts, work);
      for (Index j = 0; j < s.keys; ++j) {
        if (op.dk) copy_padded<T>(op.dk->as<E>() + keys_at + j * s.size, k_sums + j * size, s.size, s.size);
        if (op.dv) copy_padded<T>(op.dv->as<E>() + values_at + j * s.width, v_sums + j * width, s.width, s.width);
      }
    }
  });
}

}  // namespace detail::backend
}}  // namespace tern
