// The functions of tile_attention.hpp that are not templates.
#pragma once
#include "tile_attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

#if defined(__x86_64__) && defined(__linux__)

/// The attention of one matrix of the batch, by blocks of queries and keys whose scores stay in the first-level cache.
class TileAttention {
  using V = detail::expr::Packet<float>;
  static constexpr Index pairs = matmul_detail::tile_pairs, depth = matmul_detail::tile_depth,
                         lines = matmul_detail::tile_lines;

 public:
  static constexpr Index query_block = 2 * lines, key_block = 4 * depth;

  explicit TileAttention(const Attention& op)
      : s_(op.q, op.k, op.v), causal_(op.causal), scale_(float(op.scale * log2_e)),
        q_steps_(matmul_detail::strips_of(s_.size, depth)), v_steps_(matmul_detail::strips_of(s_.keys, depth)),
        width_(matmul_detail::strips_of(s_.width, 2 * lines) * 2 * lines),
        k_pairs_(matmul_detail::strips_of(s_.keys, lines) * q_steps_ * pairs),
        packed_(k_pairs_ + width_ / lines * v_steps_ * pairs + 2 * q_steps_ * pairs + 2 * weight_steps * pairs),
        sums_(query_block * (key_block + width_)) {
    for (int i = 0; i < V::size; ++i) lane_numbers_.v[i] = float(i);
  }

  /// Packs the keys and values that the following blocks of queries see.
  void see(const bfloat16* k, const bfloat16* v) {
    matmul_detail::pack_tiles({k, s_.size, s_.keys, 1, s_.size}, 0, s_.keys, true, keys());
    matmul_detail::pack_tiles({v, s_.keys, s_.width, s_.width, 1}, 0, s_.width, true, values());
  }

  /// The block of queries from `query` on.
  void attend(Index query, const bfloat16* q, bfloat16* out, float* log_sums) {
    const Index rows = std::min(query_block, s_.queries - query);
    matmul_detail::pack_tiles({q, s_.queries, s_.size, s_.size, 1}, query, query + rows, false, queries());
    for (Index r = 0; r < rows; ++r) rows_[r] = {-std::numeric_limits<float>::infinity(), 0, 0};
    const Index end = causal_ ? std::min(s_.keys, query + query_block) : s_.keys;
    for (Index key = 0; key < end; key += key_block) {
      const Index count = std::min(key_block, end - key);
      multiply(rows, count, q_steps_, {queries(), q_steps_ * pairs},
               {keys() + key / lines * q_steps_ * pairs, q_steps_ * pairs}, false, scores(), key_block);
      for (Index r = 0; r < rows; ++r)
        soften(r, causal_ ? std::clamp<Index>(query + r + 1 - key, 0, count) : count, count);
      multiply(rows, s_.width, matmul_detail::strips_of(count, depth), {weights(), weight_steps * pairs},
               {values() + key / depth * pairs, v_steps_ * pairs}, key > 0, results(), width_);
    }
    for (Index r = 0; r < rows; ++r) {
      const V share = 1 / V(rows_[r].rounded);
      Strip<V>::along_row(s_.width).each([&](Index at, int lanes) __attribute__((always_inline)) {
        store_lanes(out + (query + r) * s_.width + at, lanes, V::load(results() + r * width_ + at) * share);
      });
      log_sums[query + r] = float((rows_[r].largest + std::log2(rows_[r].total)) / log2_e);
    }
  }

 private:
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr Index weight_steps = key_block / depth;

  /// Of one query: the largest score so far, in units of log 2, the sum of weights, and that of rounded weights.
  struct Row {
    float largest, total, rounded;
  };

  std::uint32_t* keys() const { return packed_.get(); }
  std::uint32_t* values() const { return keys() + k_pairs_; }
  std::uint32_t* queries() const { return values() + width_ / lines * v_steps_ * pairs; }
  std::uint32_t* weights() const { return queries() + 2 * q_steps_ * pairs; }
  float* scores() const { return sums_.get(); }
  float* results() const { return scores() + query_block * key_block; }

  static void multiply(Index rows, Index columns, Index steps, matmul_detail::TileLines a, matmul_detail::TileLines b,
                       bool add, float* sums, Index row) {
    for (Index j = 0; j < columns; j += 2 * lines, b.first += 2 * b.next)
      matmul_detail::tiles_of(rows > lines, columns - j > lines)(steps, a, b, add, sums + j,
                                                                 row * Index(sizeof(float)));
  }

  /// Replaces a query's scores by weights 2^(score - largest), as tiles of bfloat16. Sums made with a smaller maximum
  /// are rescaled.
  void soften(Index r, Index seen, Index count) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float* const x = scores() + r * key_block;
    const auto score = [&](Index at) __attribute__((always_inline)) {
      const V value = V::load(x + at) * scale_;
      return at + V::size <= seen ? value : where(lane_numbers_ < float(seen - at), value, -infinity);
    };
    V largest(-infinity), total(0), rounded(0);
    for (Index at = 0; at < seen; at += V::size) largest = larger(score(at), largest);
    Row& row = rows_[r];
    const float before = row.largest;
    row.largest = std::max(before, sum_of<Maximum>(largest));
    const float shift = row.largest == -infinity ? 0 : row.largest;  // so that nothing is NaN if all are -infinity
    auto* const to = reinterpret_cast<bfloat16*>(weights() + r / lines * weight_steps * pairs + r % lines * lines);
    for (Index at = 0; at < matmul_detail::strips_of(count, depth) * depth; at += V::size) {
      bfloat16* const place = to + at / depth * 2 * pairs + at % depth;  // a tile is 2 `pairs` elements
      const V weight = at < seen ? detail::expr::detail::exp2_below(score(at) - shift) : V(0);
      detail::expr::store_as<bfloat16>(place, weight);
      total += weight, rounded += detail::expr::load_as<V>(place);
    }
    const float factor = detail::expr::detail::exp2_below(V(before - shift)).v[0];
    row.total = row.total * factor + sum_of<Sum>(total);
    row.rounded = row.rounded * factor + sum_of<Sum>(rounded);
    if (factor == 1 || before == -infinity) return;
    float* const result = results() + r * width_;
    for (Index i = 0; i < width_; ++i) result[i] *= factor;
  }
  template <class R>
  static float sum_of(V v) {
    return fold_packet<R>(v, std::make_index_sequence<V::size>()).v[0];
  }

  AttentionSizes s_;
  bool causal_;
  float scale_;
  Index q_steps_, v_steps_, width_, k_pairs_;
  Workspace<std::uint32_t> packed_;
  Workspace<float> sums_;
  Row rows_[query_block];
  V lane_numbers_;
};

TERN_INLINE void tile_attention(const Attention& op) {
  const AttentionSizes s(op.q, op.k, op.v);
  constexpr Index chunk = 30 * TileAttention::query_block;  // queries that share packed keys
  const Index chunks = matmul_detail::strips_of(s.queries, chunk);
  detail::parallel_for(s.batch * chunks, 1, [&](Index first, Index last) {
    const matmul_detail::TileRegisters registers;
    TileAttention attention(op);
    for (Index task = first; task < last; ++task) {
      const Index matrix = task / chunks, query = task % chunks * chunk;
      attention.see(op.k.as<bfloat16>() + matrix * s.keys * s.size, op.v.as<bfloat16>() + matrix * s.keys * s.width);
      for (Index i = query; i < std::min(s.queries, query + chunk); i += TileAttention::query_block)
        attention.attend(i, op.q.as<bfloat16>() + matrix * s.queries * s.size,
                         op.out.as<bfloat16>() + matrix * s.queries * s.width,
                         op.log_sums.as<float>() + matrix * s.queries);
    }
  });
}

#else

TERN_INLINE void tile_attention(const Attention&) {}

#endif

}}}  // namespace tern::detail::backend::cpu_kernels
