// Attention by blocks of 64 queries and 64 keys, whose scores stay on the chip (Dao, Fu, Ermon, Rudra, Ré:
// "FlashAttention: fast and memory-efficient exact attention with IO-awareness", 2022). A block of threads owns 64 rows
// of one matrix of its result and goes over the other operand, so every sum has one order. In the backward pass one
// kernel owns queries and another keys; both calculate the weights again.
#pragma once
#include "attention_tiles.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// The longest queries, keys and values: a thread's sums are in registers.
inline constexpr Index attention_size = 128;

// 256 threads work on 64 x 64 scores: thread (r, c) of 16 x 16 has rows 4 r … 4 r + 3 and columns c, c + 16, …
inline constexpr const char* attention_text = R"CUDA(
enum { tile = 64, depth = 32 };
struct Shared {
  C0 a[tile][depth + 1], b[tile][depth + 1];   // 32 columns of 64 rows of two matrices
  C0 weights[tile][tile + 1];
};
typedef C0 Scores[4][4];
typedef C0 Sums[4][8];                           // columns c, c + 16, … of up to 128
inline __device__ int thread_row() { return threadIdx.x / 16 * 4; }
inline __device__ int thread_column() { return threadIdx.x % 16; }

// Some rows of a matrix of a batch.
struct Rows {
  const T0* from;
  Index count, length;
  __device__ Rows(const T0* data, Index matrix, Index number, Index columns, Index begin)
    : from(data + (matrix * number + begin) * columns), count(number - begin), length(columns) {}
  __device__ void load(C0 (*to)[depth + 1], Index column) const {
    const int c = threadIdx.x % depth;
    #pragma unroll 1
    for (int i = threadIdx.x / depth; i < tile; i += 256 / depth)
      to[i][c] = i < count && column + c < length ? promote(from[i * length + column + c]) : C0(0);
  }
};

// The products of 64 rows of a with 64 rows of b.
inline __device__ void multiply(Shared& shared, Scores& sums, const Rows& a, const Rows& b) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sums[i][j] = 0;
  #pragma unroll 1
  for (Index column = 0; column < a.length; column += depth) {
    __syncthreads();
    a.load(shared.a, column);
    b.load(shared.b, column);
    __syncthreads();
    #pragma unroll 4
    for (int d = 0; d < depth; ++d) {
      C0 y[4];
      for (int j = 0; j < 4; ++j) y[j] = shared.b[thread_column() + 16 * j][d];
      for (int i = 0; i < 4; ++i) {
        const C0 x = shared.a[thread_row() + i][d];
        for (int j = 0; j < 4; ++j) sums[i][j] = multiply_add(x, y[j], sums[i][j]);
      }
    }
  }
}

// Adds weights [64, 64] times 64 rows of b.
inline __device__ void weigh(Shared& shared, Sums& sums, const Scores& weights, const Rows& b) {
  __syncthreads();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) shared.weights[thread_row() + i][thread_column() + 16 * j] = weights[i][j];
  #pragma unroll
  for (int part = 0; part < 4; ++part) {
    if (part * depth >= b.length) break;
    __syncthreads();
    b.load(shared.b, part * depth);
    __syncthreads();
    #pragma unroll 4
    for (int k = 0; k < tile; ++k) {
      const C0 y = shared.b[k][thread_column()], z = shared.b[k][thread_column() + 16];
      for (int i = 0; i < 4; ++i) {
        const C0 x = shared.weights[thread_row() + i][k];
        sums[i][2 * part] = multiply_add(x, y, sums[i][2 * part]);
        sums[i][2 * part + 1] = multiply_add(x, z, sums[i][2 * part + 1]);
      }
    }
  }
}

inline __device__ void clear(Sums& sums) {
  for (int i = 0; i < 4; ++i)
    for (int u = 0; u < 8; ++u) sums[i][u] = 0;
}

// Writes sums times a factor for each row, to rows from `first` on of the matrix `to` [count, length].
inline __device__ void store(T0* to, Index first, Index count, Index length, const Sums& sums, const C0* factor) {
  for (int i = 0; i < 4; ++i) {
    const Index row = first + thread_row() + i;
    for (int u = 0; u < 8; ++u)
      if (const int column = thread_column() + 16 * u; row < count && column < length)
        to[row * length + column] = Element<T0>::of(sums[i][u] * factor[i]);
  }
}
)CUDA";

inline constexpr KernelOf<AttentionParameters> attention_kernel{
    "attention",
    R"CUDA(
// The sum, or the largest, of what the 16 threads of a row have.
inline __device__ C0 row_sum(C0 x) {
  for (int step = 8; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
inline __device__ C0 row_largest(C0 x) {
  for (int step = 8; step; step /= 2) x = larger(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
extern "C" __global__ void attention(const AttentionParameters p) {
  __shared__ Shared shared;
  const AttentionInput& in = p.in;
  const Index tiles = (in.queries + tile - 1) / tile, matrix = blockIdx.x / tiles, first = blockIdx.x % tiles * tile;
  const Index end = in.causal && first + tile < in.keys ? first + tile : in.keys;
  const C0 lowest = C0(-1e300 * 1e300);
  C0 largest[4] = {lowest, lowest, lowest, lowest}, total[4] = {};
  Sums sums;
  clear(sums);
  #pragma unroll 1
  for (Index key = 0; key < end; key += tile) {
    Scores scores;
    multiply(shared, scores, Rows(in.q, matrix, in.queries, in.size, first), Rows(in.k, matrix, in.keys, in.size, key));
    for (int i = 0; i < 4; ++i) {
      C0 most = largest[i], sum = 0;
      for (int j = 0; j < 4; ++j) {
        const bool seen = sees(in, first + thread_row() + i, key + thread_column() + 16 * j);
        scores[i][j] = seen ? scores[i][j] * C0(in.scale) : lowest;
        most = larger(most, scores[i][j]);
      }
      most = row_largest(most);
      const C0 shift = most == lowest ? C0(0) : most, factor = exp(largest[i] - shift);   // nothing is subtracted from -infinity
      for (int j = 0; j < 4; ++j) {
        scores[i][j] = exp(scores[i][j] - shift);
        sum += scores[i][j];
      }
      largest[i] = most;
      total[i] = total[i] * factor + row_sum(sum);
      for (int u = 0; u < 8; ++u) sums[i][u] *= factor;
    }
    weigh(shared, sums, scores, Rows(in.v, matrix, in.keys, in.width, key));
  }
  C0 factor[4];
  for (int i = 0; i < 4; ++i) {
    factor[i] = C0(1) / total[i];
    const Index query = first + thread_row() + i;
    if (thread_column() == 0 && query < in.queries) p.log_sums[matrix * in.queries + query] = largest[i] + log(total[i]);
  }
  store(p.out + matrix * in.queries * in.width, first, in.queries, in.width, sums, factor);
}
)CUDA",
    {AttentionInput::source, attention_sees_text, attention_text}};

inline constexpr const char* score_gradient_text = R"CUDA(
// From the scores of a query and a key, and from g Vᵀ: their weight, and the gradient of the score.
inline __device__ void score_gradient(const AttentionInput& in, const C0* log_sums, const C0* means, Index query, Index key, C0& score, C0& product) {
  const bool seen = sees(in, query, key);
  score = seen ? exp(score * C0(in.scale) - log_sums[query]) : C0(0);
  product = seen ? score * (product - means[query]) : C0(0);
}
)CUDA";

inline constexpr KernelOf<AttentionGradientParameters> attention_query_gradient_kernel{
    "attention_query_gradient",
    R"CUDA(
extern "C" __global__ void attention_query_gradient(const AttentionGradientParameters p) {
  __shared__ Shared shared;
  const AttentionInput& in = p.in;
  const Index tiles = (in.queries + tile - 1) / tile, matrix = blockIdx.x / tiles, first = blockIdx.x % tiles * tile;
  const Index end = in.causal && first + tile < in.keys ? first + tile : in.keys;
  const C0* const log_sums = p.log_sums + matrix * in.queries;
  const C0* const means = p.means + matrix * in.queries;
  Sums sums;
  clear(sums);
  #pragma unroll 1
  for (Index key = 0; key < end; key += tile) {
    Scores scores, products;
    const Rows keys(in.k, matrix, in.keys, in.size, key);
    multiply(shared, scores, Rows(in.q, matrix, in.queries, in.size, first), keys);
    multiply(shared, products, Rows(p.g, matrix, in.queries, in.width, first), Rows(in.v, matrix, in.keys, in.width, key));
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        score_gradient(in, log_sums, means, first + thread_row() + i, key + thread_column() + 16 * j, scores[i][j], products[i][j]);
    weigh(shared, sums, products, keys);
  }
  const C0 scale = C0(in.scale), factor[4] = {scale, scale, scale, scale};
  store(p.dq + matrix * in.queries * in.size, first, in.queries, in.size, sums, factor);
}
)CUDA",
    {AttentionInput::source, attention_sees_text, attention_text, score_gradient_text}};

inline constexpr KernelOf<AttentionGradientParameters> attention_key_gradient_kernel{
    "attention_key_gradient",
    R"CUDA(
extern "C" __global__ void attention_key_gradient(const AttentionGradientParameters p) {
  __shared__ Shared shared;
  const AttentionInput& in = p.in;
  const Index tiles = (in.keys + tile - 1) / tile, matrix = blockIdx.x / tiles, first = blockIdx.x % tiles * tile;
  const C0* const log_sums = p.log_sums + matrix * in.queries;
  const C0* const means = p.means + matrix * in.queries;
  Sums k_sums, v_sums;
  clear(k_sums);
  clear(v_sums);
  #pragma unroll 1
  for (Index query = in.causal ? first : 0; query < in.queries; query += tile) {
    Scores scores, products;
    const Rows queries(in.q, matrix, in.queries, in.size, query), g(p.g, matrix, in.queries, in.width, query);
    multiply(shared, scores, Rows(in.k, matrix, in.keys, in.size, first), queries);
    multiply(shared, products, Rows(in.v, matrix, in.keys, in.width, first), g);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        score_gradient(in, log_sums, means, query + thread_column() + 16 * j, first + thread_row() + i, scores[i][j], products[i][j]);
    if (p.dv) weigh(shared, v_sums, scores, g);
    if (p.dk) weigh(shared, k_sums, products, queries);
  }
  const C0 scale = C0(in.scale), factor[4] = {scale, scale, scale, scale}, one[4] = {1, 1, 1, 1};
  if (p.dk) store(p.dk + matrix * in.keys * in.size, first, in.keys, in.size, k_sums, factor);
  if (p.dv) store(p.dv + matrix * in.keys * in.width, first, in.keys, in.width, v_sums, one);
}
)CUDA",
    {AttentionInput::source, attention_sees_text, attention_text, score_gradient_text}};

/// True if the device and the sizes allow the kernels for tensor cores.
TERN_API bool has_attention_tiles(const AttentionSizes& s);

TERN_API void run_attention(const Attention& op);

TERN_API void run_attention_gradient(const AttentionGradient& op);

}  // namespace cuda_kernels

/// Tensor cores make attention by blocks the faster way, but for a few rows, and for so few blocks of rows that most
/// multiprocessors would have none while those few go over many keys. Without them the products of whole matrices are
/// faster, unless a causal mask hides half of the scores, or the scores would take more than 64 MB.
inline bool attention_pays(On<Cuda>, const AttentionSizes& s, bool causal) {
  if (cuda_kernels::has_attention_tiles(s)) return s.queries >= 16 && s.keys <= 512 * s.batch * ((s.queries + 63) / 64);
  return std::max(s.size, s.width) <= cuda_kernels::attention_size && s.queries >= 64 &&
         (causal || s.batch * s.queries * s.keys >= 1 << 24);
}

template <class T>
  requires(!std::is_same_v<T, double>)
void kernel(On<Cuda>, Types<T>, const Attention& op) {
  cuda_kernels::run_attention(op);
}

template <class T>
  requires(!std::is_same_v<T, double>)
void kernel(On<Cuda>, Types<T>, const AttentionGradient& op) {
  cuda_kernels::run_attention_gradient(op);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "attention.ipp"
#endif
