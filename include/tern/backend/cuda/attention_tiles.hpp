// Attention on tensor cores (Dao: "FlashAttention-2: faster attention with better parallelism and work partitioning",
// 2023). A block of threads owns rows of one matrix of its result, each warp 16 or 32 of them, and goes over the other
// operand in steps. The next step's rows are copied to shared memory during a step. Scores and sums are in registers;
// what a product leaves there is an operand of the next one. Every sum has one order. Over 400 lines, because
// the forward pass and the gradients share their tiles.
#pragma once
#include <array>

#include "attention_parameters.hpp"
#include "codegen/tiles.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

inline constexpr const char* attention_tiles_text = R"CUDA(
enum {
  pack = 16 / sizeof(T0),
  depth = 2 * pack,        // columns of a tile product
  pitch = head + pack,     // of rows in shared memory: 16 bytes of each of eight rows lie in different banks
  rows = 16 * row_tiles * warps,
  threads = 32 * warps
};
typedef Operand<4, exact> Left;
typedef Operand<2, exact> Right;
typedef Tile Scores[row_tiles][step / 8];
inline __device__ int warp_row() { return threadIdx.x / 32 * (16 * row_tiles); }
// Of sums[i] in a tile.
inline __device__ int tile_row(int i) { return lane() / 4 + i / 2 * 8; }
inline __device__ int tile_column(int i) { return lane() % 4 * 2 + i % 2; }

// What a block owns. The blocks with the last rows, which see the most keys, come first.
struct Place {
  Index matrix;
  int first;
  __device__ Place(Index block, Index matrices, Index count)
    : matrix(block % matrices), first(int((count + rows - 1) / rows - 1 - block / matrices) * rows) {}
};

// Starts to copy rows of a matrix [count, length] to shared memory; zeros stand for what it does not have.
inline __device__ void load(T0* to, const T0* matrix, int first, int number, int count, int length) {
  const T0* const from = matrix + first * Index(length);
  const int present = count - first;
  const bool packed = (uint64(from) | uint64(length * sizeof(T0))) % 16 == 0;
  if (packed) {
    #pragma unroll 4
    for (int i = threadIdx.x; i < number * (head / pack); i += threads) {
      const int row = i / (head / pack), column = i % (head / pack) * pack;
      const bool exists = row < present && column < length;
      start_copy(to + row * pitch + column, exists ? from + row * Index(length) + column : matrix, exists);
    }
  } else {
    #pragma unroll 1
    for (int i = threadIdx.x; i < number * head; i += threads) {
      const int row = i / head, column = i % head;
      to[row * pitch + column] = row < present && column < length ? from[row * Index(length) + column] : T0();
    }
  }
}

template <int n> inline __device__ void clear(Tile (&sums)[row_tiles][n]) {
  for (int i = 0; i < row_tiles; ++i)
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 4; ++c) sums[i][j][c] = 0;
}

// The products of a warp's rows of x with the rows of a step, over `length` columns.
inline __device__ void multiply(Scores& scores, const T0* x, const T0* y, int length) {
  x += (warp_row() + lane() % 16) * pitch + lane() / 16 * pack;
  y += (lane() % 8 + lane() / 16 * 8) * pitch + lane() / 8 % 2 * pack;
  clear(scores);
  #pragma unroll
  for (int group = 0; group < head; group += 32) {
    if (group >= length) break;
    #pragma unroll
    for (int k = group; k < group + 32; k += depth) {
      Left left[row_tiles];
      #pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        load_matrices(left[i].words, x + 16 * i * pitch + k);
        left[i].round(T0());
      }
      #pragma unroll
      for (int j = 0; j < step / 8; j += 2) {
        uint32 words[4];
        load_matrices(words, y + 8 * j * pitch + k);
        Right right[2] = {{{words[0], words[1]}}, {{words[2], words[3]}}};
        for (int u = 0; u < 2; ++u) right[u].round(T0());
        add_products(T0(), scores, j, left, right);
      }
    }
  }
}

// 16 columns of `depth` rows. Rows 2 t and 2 t + 1 of floats are words t and t + 4 of the operand, as the sums in registers are.
inline __device__ void load_columns(Right (&y)[2], const float* from) {
  for (int u = 0; u < 2; ++u)
    for (int i = 0; i < 2; ++i) y[u].words[i] = bits_of(from[(lane() % 4 * 2 + i) * pitch + 8 * u + lane() / 4]);
}
template <class T> inline __device__ void load_columns(Right (&y)[2], const T* from) {
  uint32 words[4];
  load_transposed(words, from + lane() % 16 * pitch + lane() / 16 * 8);
  for (int i = 0; i < 4; ++i) y[i / 2].words[i % 2] = words[i];
}
inline __device__ void take_sums(float, Left& x, const Tile* sums) {
  for (int i = 0; i < 4; ++i) x.words[i] = bits_of(sums[0][i / 2 + i % 2 * 2]);
}
template <class T> inline __device__ void take_sums(T type, Left& x, const Tile* sums) {
  for (int i = 0; i < 4; ++i) x.words[i] = pair_of(type, sums[i / 2][i % 2 * 2], sums[i / 2][i % 2 * 2 + 1]);
}

// Adds the sums of a step's rows with these weights, over `length` columns.
template <int n>
inline __device__ void weigh(Tile (&sums)[row_tiles][n], const Scores& weights, const T0* y, int length) {
  #pragma unroll
  for (int k = 0; k < step; k += depth) {
    Left left[row_tiles];
    #pragma unroll
    for (int i = 0; i < row_tiles; ++i) {
      take_sums(T0(), left[i], weights[i] + k / 8);
      left[i].round(T0());
    }
    #pragma unroll
    for (int group = 0; group < 8 * n; group += 32) {
      if (group >= length) break;
      #pragma unroll
      for (int j = group / 8; j < group / 8 + 4; j += 2) {
        Right right[2];
        load_columns(right, y + k * pitch + 8 * j);
        for (int u = 0; u < 2; ++u) right[u].round(T0());
        add_products(T0(), sums, j, left, right);
      }
    }
  }
}

// Writes a warp's sums, times a factor for each row, to columns from `column` on of a matrix [count, length].
template <int n>
inline __device__ void store(T0* to, int first, int count, int length, int column, const Tile (&sums)[row_tiles][n], const float (&factors)[row_tiles][2]) {
  #pragma unroll
  for (int i = 0; i < row_tiles; ++i)
    #pragma unroll
    for (int j = 0; j < n; ++j)
      #pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int row = first + warp_row() + 16 * i + tile_row(c), at = column + 8 * j + tile_column(c);
        if (row < count && at < length) to[row * Index(length) + at] = Element<T0>::of(sums[i][j][c] * factors[i][c / 2]);
      }
}

// Exponentials are powers of two.
const float log2_e = 1.44269504f;

// From the score of a query and a key, and from g Vᵀ: their weight, and the gradient of the score.
inline __device__ void score_gradient(bool seen, float scale, float log_sum, float mean, float& score, float& product) {
  score = seen ? power_of_two(score * scale - log_sum) : 0;
  product = seen ? score * (product - mean) : 0;
}
)CUDA";

/// The constants of a kernel, as the host and the source have them. A block owns 16 row_tiles warps rows of up to
/// `head` elements of `bytes` bytes, and goes over `step` other rows at a time. Products of floats have almost float's
/// accuracy if they are exact, and TF32's if they are not.
struct TileSizes {
  int bytes;
  bool exact;
  int head, warps, row_tiles, step;
  const char* source;

  constexpr int rows() const { return 16 * row_tiles * warps; }
  /// Shared memory for the owned rows of so many matrices, and twice those of two matrices that a step needs.
  constexpr int shared_bytes(int owned) const { return (owned * rows() + 4 * step) * (head * bytes + 16); }
};

template <class P>
struct TileKernel : KernelOf<P> {
  TileSizes shape;
  constexpr TileKernel(const char* function, const char* kernel, const TileSizes& constants)
      : KernelOf<P>(function, kernel,
                    {AttentionInput::source, attention_sees_text, constants.source, tiles_text, attention_tiles_text}),
        shape(constants) {}
};

inline constexpr const char* attention_tiles_forward = R"CUDA(
// Of the four lanes of a row.
inline __device__ float row_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}
inline __device__ float row_largest(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
extern "C" __global__ void attention_tiles(const AttentionParameters p) {
  extern __shared__ __align__(16) unsigned char memory[];
  T0 *const q = (T0*)memory, *const k = q + rows * pitch, *const v = k + 2 * step * pitch;
  const AttentionInput& in = p.in;
  const Place place(blockIdx.x, in.matrices, in.queries);
  const int queries = in.queries, keys = in.keys, size = in.size, width = in.width, first = place.first;
  const int end = in.causal && first + rows < keys ? first + rows : keys, row = first + warp_row();
  const T0 *const all_k = in.k + place.matrix * keys * size, *const all_v = in.v + place.matrix * keys * width;
  const float lowest = -1e38f * 10, scale = float(in.scale) * log2_e;
  float largest[row_tiles][2], total[row_tiles][2];
  Tile sums[row_tiles][head / 8];
  clear(sums);
  for (int i = 0; i < row_tiles; ++i)
    for (int h = 0; h < 2; ++h) largest[i][h] = lowest, total[i][h] = 0;
  load(q, in.q + place.matrix * queries * size, first, rows, queries, size);
  load(k, all_k, 0, step, keys, size);
  load(v, all_v, 0, step, keys, width);
  int stage = 0;
  #pragma unroll 1
  for (int key = 0; key < end; key += step) {
    end_copies();
    __syncthreads();
    const int now = stage * step * pitch, next = (1 - stage) * step * pitch;
    if (key + step < end) {
      load(k + next, all_k, key + step, step, keys, size);
      load(v + next, all_v, key + step, step, keys, width);
    }
    stage = 1 - stage;
    Scores scores;
    multiply(scores, q, k + now, size);
    const bool whole = key + step <= keys && (!in.causal || key + step <= row + 1);
    #pragma unroll
    for (int i = 0; i < row_tiles; ++i)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        float most = largest[i][h], sum = 0;
        #pragma unroll
        for (int j = 0; j < step / 8; ++j)
          for (int c = 2 * h; c < 2 * h + 2; ++c) {
            float& score = scores[i][j][c];
            score *= scale;
            if (!whole && !sees(in, row + 16 * i + tile_row(c), key + 8 * j + tile_column(c))) score = lowest;
            most = fmaxf(most, score);
          }
        most = row_largest(most);
        const float shift = most == lowest ? 0 : most, factor = power_of_two(largest[i][h] - shift);   // nothing is subtracted from -infinity
        #pragma unroll
        for (int j = 0; j < step / 8; ++j)
          for (int c = 2 * h; c < 2 * h + 2; ++c) sum += scores[i][j][c] = power_of_two(scores[i][j][c] - shift);
        largest[i][h] = most;
        total[i][h] = total[i][h] * factor + sum;
        #pragma unroll
        for (int j = 0; j < head / 8; ++j)
          for (int c = 2 * h; c < 2 * h + 2; ++c) sums[i][j][c] *= factor;
      }
    weigh(sums, scores, v + now, width);
  }
  float factors[row_tiles][2];
  for (int i = 0; i < row_tiles; ++i)
    for (int h = 0; h < 2; ++h) {
      const float all = row_sum(total[i][h]);
      const int query = row + 16 * i + tile_row(2 * h);
      factors[i][h] = all == 0 ? float(not_a_number()) : 1 / all;   // all scores are -infinity
      if (lane() % 4 == 0 && query < queries)
        p.log_sums[place.matrix * queries + query] = largest[i][h] * 0.693147181f + logf(all);
    }
  store(p.out + place.matrix * queries * width, first, queries, width, 0, sums, factors);
}
)CUDA";

inline constexpr const char* attention_tiles_query_gradient = R"CUDA(
extern "C" __global__ void attention_tiles_query_gradient(const AttentionGradientParameters p) {
  extern __shared__ __align__(16) unsigned char memory[];
  T0 *const q = (T0*)memory, *const g = q + rows * pitch, *const k = g + rows * pitch, *const v = k + 2 * step * pitch;
  const AttentionInput& in = p.in;
  const Place place(blockIdx.x, in.matrices, in.queries);
  const int queries = in.queries, keys = in.keys, size = in.size, width = in.width, first = place.first;
  const int end = in.causal && first + rows < keys ? first + rows : keys, row = first + warp_row();
  const T0 *const all_k = in.k + place.matrix * keys * size, *const all_v = in.v + place.matrix * keys * width;
  const float scale = float(in.scale) * log2_e;
  float log_sums[row_tiles][2], means[row_tiles][2], factors[row_tiles][2];
  for (int i = 0; i < row_tiles; ++i)
    for (int h = 0; h < 2; ++h) {
      const int query = row + 16 * i + tile_row(2 * h);
      log_sums[i][h] = query < queries ? p.log_sums[place.matrix * queries + query] * log2_e : 0;
      means[i][h] = query < queries ? p.means[place.matrix * queries + query] : 0;
      factors[i][h] = float(in.scale);
    }
  Tile sums[row_tiles][head / 8];
  clear(sums);
  load(q, in.q + place.matrix * queries * size, first, rows, queries, size);
  load(g, p.g + place.matrix * queries * width, first, rows, queries, width);
  load(k, all_k, 0, step, keys, size);
  load(v, all_v, 0, step, keys, width);
  int stage = 0;
  #pragma unroll 1
  for (int key = 0; key < end; key += step) {
    end_copies();
    __syncthreads();
    const int now = stage * step * pitch, next = (1 - stage) * step * pitch;
    if (key + step < end) {
      load(k + next, all_k, key + step, step, keys, size);
      load(v + next, all_v, key + step, step, keys, width);
    }
    stage = 1 - stage;
    Scores scores, products;
    multiply(scores, q, k + now, size);
    multiply(products, g, v + now, width);
    const bool whole = key + step <= keys && (!in.causal || key + step <= row + 1);
    #pragma unroll
    for (int i = 0; i < row_tiles; ++i)
      #pragma unroll
      for (int j = 0; j < step / 8; ++j)
        #pragma unroll
        for (int c = 0; c < 4; ++c)
          score_gradient(whole || sees(in, row + 16 * i + tile_row(c), key + 8 * j + tile_column(c)), scale, log_sums[i][c / 2], means[i][c / 2], scores[i][j][c],
                products[i][j][c]);
    weigh(sums, products, k + now, size);
  }
  store(p.dq + place.matrix * queries * size, first, queries, size, 0, sums, factors);
}
)CUDA";

inline constexpr const char* attention_tiles_key_gradient = R"CUDA(
// The sums of two gradients: a block has up to 128 columns of them.
enum { columns = head < 128 ? head : 128, parts = head / columns };
extern "C" __global__ void attention_tiles_key_gradient(const AttentionGradientParameters p) {
  extern __shared__ __align__(16) unsigned char memory[];
  T0 *const k = (T0*)memory, *const v = k + rows * pitch, *const q = v + rows * pitch, *const g = q + 2 * step * pitch;
  const AttentionInput& in = p.in;
  const Place place(blockIdx.x / parts, in.matrices, in.keys);
  const int queries = in.queries, keys = in.keys, size = in.size, width = in.width, first = place.first;
  const int begin = in.causal ? first : 0, row = first + warp_row(), column = blockIdx.x % parts * columns;
  const T0 *const all_q = in.q + place.matrix * queries * size, *const all_g = p.g + place.matrix * queries * width;
  const float scale = float(in.scale) * log2_e;
  Tile k_sums[row_tiles][columns / 8], v_sums[row_tiles][columns / 8];
  clear(k_sums);
  clear(v_sums);
  load(k, in.k + place.matrix * keys * size, first, rows, keys, size);
  load(v, in.v + place.matrix * keys * width, first, rows, keys, width);
  load(q, all_q, begin, step, queries, size);
  load(g, all_g, begin, step, queries, width);
  int stage = 0;
  #pragma unroll 1
  for (int query = begin; query < queries; query += step) {
    end_copies();
    __syncthreads();
    const int now = stage * step * pitch, next = (1 - stage) * step * pitch;
    if (query + step < queries) {
      load(q + next, all_q, query + step, step, queries, size);
      load(g + next, all_g, query + step, step, queries, width);
    }
    stage = 1 - stage;
    float log_sums[step / 8][2], means[step / 8][2];
    #pragma unroll
    for (int j = 0; j < step / 8; ++j)
      for (int c = 0; c < 2; ++c) {
        const int i = query + 8 * j + tile_column(c);
        log_sums[j][c] = i < queries ? p.log_sums[place.matrix * queries + i] * log2_e : 0;
        means[j][c] = i < queries ? p.means[place.matrix * queries + i] : 0;
      }
    Scores scores, products;
    multiply(scores, k, q + now, size);
    multiply(products, v, g + now, width);
    const bool whole = query + step <= queries && (!in.causal || row + 16 * row_tiles <= query + 1);
    #pragma unroll
    for (int i = 0; i < row_tiles; ++i)
      #pragma unroll
      for (int j = 0; j < step / 8; ++j)
        #pragma unroll
        for (int c = 0; c < 4; ++c)
          score_gradient(whole || sees(in, query + 8 * j + tile_column(c), row + 16 * i + tile_row(c)), scale, log_sums[j][c % 2], means[j][c % 2], scores[i][j][c],
                products[i][j][c]);
    if (p.dv) weigh(v_sums, scores, g + now + column, width - column);
    if (p.dk) weigh(k_sums, products, q + now + column, size - column);
  }
  float factors[row_tiles][2], ones[row_tiles][2];
  for (int i = 0; i < row_tiles; ++i)
    for (int h = 0; h < 2; ++h) factors[i][h] = float(in.scale), ones[i][h] = 1;
  if (p.dk) store(p.dk + place.matrix * keys * size, first, keys, size, column, k_sums, factors);
  if (p.dv) store(p.dv + place.matrix * keys * width, first, keys, width, column, v_sums, ones);
}
)CUDA";

// A block may have 99 KB of shared memory on every chip, a thread 255 registers.
#define TERN_SHAPE(bytes, exact, head, warps, row_tiles, step)                                            \
  {bytes,                                                                                                 \
   exact,                                                                                                 \
   head,                                                                                                  \
   warps,                                                                                                 \
   row_tiles,                                                                                             \
   step,                                                                                                  \
   "const bool exact = " #exact ";\nenum { head = " #head ", warps = " #warps ", row_tiles = " #row_tiles \
   ", step = " #step " };\n"}
inline constexpr TileSizes attention_shapes[] = {
    TERN_SHAPE(4, true, 64, 4, 2, 32),   TERN_SHAPE(4, true, 128, 4, 1, 32), TERN_SHAPE(4, false, 64, 4, 2, 32),
    TERN_SHAPE(4, false, 128, 4, 1, 32), TERN_SHAPE(2, false, 64, 4, 2, 64), TERN_SHAPE(2, false, 128, 4, 2, 32),
    TERN_SHAPE(2, false, 256, 4, 1, 32)};
inline constexpr TileSizes attention_gradient_shapes[] = {
    TERN_SHAPE(4, true, 64, 4, 1, 32),   TERN_SHAPE(4, true, 128, 4, 1, 16), TERN_SHAPE(4, false, 64, 4, 1, 32),
    TERN_SHAPE(4, false, 128, 4, 1, 16), TERN_SHAPE(2, false, 64, 4, 1, 64), TERN_SHAPE(2, false, 128, 4, 1, 32),
    TERN_SHAPE(2, false, 256, 4, 1, 16)};
#undef TERN_SHAPE

/// A kernel for each shape.
template <class P, std::size_t... i>
constexpr auto tile_kernels(const char* function, const char* kernel, const TileSizes* shapes,
                            std::index_sequence<i...>) {
  return std::array{TileKernel<P>(function, kernel, shapes[i])...};
}
using AttentionShapes = std::make_index_sequence<std::size(attention_shapes)>;
inline constexpr auto attention_tile_kernels =
    tile_kernels<AttentionParameters>("attention_tiles", attention_tiles_forward, attention_shapes, AttentionShapes());
inline constexpr auto attention_tile_query_kernels = tile_kernels<AttentionGradientParameters>(
    "attention_tiles_query_gradient", attention_tiles_query_gradient, attention_gradient_shapes, AttentionShapes());
inline constexpr auto attention_tile_key_kernels = tile_kernels<AttentionGradientParameters>(
    "attention_tiles_key_gradient", attention_tiles_key_gradient, attention_gradient_shapes, AttentionShapes());

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
