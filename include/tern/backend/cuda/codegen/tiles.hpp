// Products of a warp on tensor cores: instructions of compute capability 8.0, and for compilers of other processors
// loops that do the same. A tile product multiplies 16 rows of 32 bytes with 8 rows of 32 bytes. In a warp, lane 4 g +
// t holds of the left rows g and g + 8 the words t and t + 4, of the right row g the words t and t + 4, and of the 16 x
// 8 sums rows g and g + 8 in columns 2 t and 2 t + 1.
#pragma once
#include "../../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

inline constexpr const char* tiles_text = R"CUDA(
typedef float Tile[4];
inline __device__ uint32 tf32_of(float x);
inline __device__ int lane() { return threadIdx.x % 32; }

// Words of an operand. Where `exact` is set, a float is the sum of two numbers of TF32, and a product is three.
template <int n, bool exact> struct Operand {
  uint32 words[n], rest[n];
  // From bits of a T to what products take.
  __device__ void round(float) {
    for (int i = 0; i < n; ++i) {
      const float x = float_of(words[i]);
      if (exact) {
        // Cut off, so that the rest has x's sign. A rest that is never 0 has no product with an infinity that is not one. The third
        // argument is larger than NaN, which is infinity less infinity.
        words[i] &= 0xffffe000u;
        const float difference = fmaxf(fabsf(x) - fabsf(float_of(words[i])), 1.17549435e-38f);
        rest[i] = (bits_of(difference) + 0x1000u) | (bits_of(x) & 0x80000000u);
      } else {
        words[i] = tf32_of(x);
      }
    }
  }
  template <class T> __device__ void round(T) {}
};

#ifdef __CUDACC_VER_MAJOR__

inline __device__ uint32 shared_address(const void* p) { return uint32(__cvta_generic_to_shared(p)); }

// sums += x yᵀ.
inline __device__ void multiply_tile(float, Tile& sums, const uint32 (&x)[4], const uint32 (&y)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
inline __device__ void multiply_tile(bfloat16, Tile& sums, const uint32 (&x)[4], const uint32 (&y)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
inline __device__ void multiply_tile(half, Tile& sums, const uint32 (&x)[4], const uint32 (&y)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

// Four matrices of 8 rows of 16 bytes in shared memory. Lane 8 i + r names row r of matrix i, and gets of each matrix row g, word t.
inline __device__ void load_matrices(uint32 (&x)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(shared_address(row)) : "memory");
}
// The same of matrices of 16 bits, but column g of rows 2 t and 2 t + 1.
inline __device__ void load_transposed(uint32 (&x)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(shared_address(row)) : "memory");
}

// Adds x yᵀ to sums[..][j] and sums[..][j + 1]. Products of one sum are not next to each other.
template <class T, bool exact, int m, int n>
inline __device__ void add_products(T type, Tile (&sums)[m][n], int j, const Operand<4, exact> (&x)[m], const Operand<2, exact> (&y)[2]) {
  #pragma unroll
  for (int part = exact ? 0 : 2; part < 3; ++part)
    #pragma unroll
    for (int u = 0; u < 2; ++u)
      #pragma unroll
      for (int i = 0; i < m; ++i)
        multiply_tile(type, sums[i][j + u], part == 0 ? x[i].rest : x[i].words, part == 1 ? y[u].rest : y[u].words);
}

// Copies 16 bytes to shared memory in the background, or zeros.
inline __device__ void start_copy(void* to, const void* from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(shared_address(to)), "l"(from), "r"(present ? 16 : 0) : "memory");
}
inline __device__ void end_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

// To nearest, ties away from zero.
inline __device__ uint32 tf32_of(float x) {
  uint32 y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}
inline __device__ uint32 pair_of(bfloat16, float first, float second) {
  uint32 y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(second), "f"(first));
  return y;
}
inline __device__ uint32 pair_of(half, float first, float second) {
  uint32 y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(second), "f"(first));
  return y;
}
// 2^x to 2 units in the last place; 0 where that is below 2^-126.
inline __device__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

#else

inline __device__ void take_word(float, float* to, uint32 word) { *to = float_of(word & 0xffffe000u); }
template <class T> inline __device__ void take_word(T, float* to, uint32 word) {
  to[0] = promote(T{(unsigned short)word});
  to[1] = promote(T{(unsigned short)(word >> 16)});
}
enum { lane_elements = 24 };
// The float towards 0: tensor cores do not round sums.
inline __device__ float cut_off(double x) {
  const float nearest = float(x);
  return nearest != nearest || (nearest < 0 ? -double(nearest) : double(nearest)) <= (x < 0 ? -x : x) ? nearest : float_of(bits_of(nearest) - 1);
}
// The operands of a warp's lanes.
static __device__ float* warp_operands() {   // not inline: g++ would put its variable elsewhere
  __shared__ float operands[8][32 * lane_elements];
  return operands[threadIdx.x / 32];
}
template <class T, bool exact, int m, int n>
inline __device__ void add_products(T type, Tile (&sums)[m][n], int j, const Operand<4, exact> (&x)[m], const Operand<2, exact> (&y)[2]) {
  const int count = 4 / sizeof(T), both = (1 + exact) * count, me = lane();
  float* const all = warp_operands();
  float* own = all + me * lane_elements;
  const auto give = [&](const uint32* words, const uint32* rest, int number) {
    for (int i = 0; i < number; ++i, own += both) {
      take_word(type, own, words[i]);
      if (exact) take_word(type, own + count, rest[i]);
    }
  };
  for (int i = 0; i < m; ++i) give(x[i].words, x[i].rest, 4);
  for (int u = 0; u < 2; ++u) give(y[u].words, y[u].rest, 2);
  __syncwarp();
  for (int i = 0; i < m; ++i)
    for (int u = 0; u < 2; ++u)
      for (int c = 0; c < 4; ++c) {
        float& sum = sums[i][j + u][c];
        // One instruction: the products of a part of the left operands and a part of the right ones, added up exactly and cut off.
        const auto add = [&](int left_part, int right_part) {
          double total = sum;
          for (int word = 0; word < 8; ++word) {
            const float* const left = all + (me / 4 * 4 + word % 4) * lane_elements + (4 * i + c / 2 + word / 4 * 2) * both;
            const float* const right = all + ((me % 4 * 2 + c % 2) * 4 + word % 4) * lane_elements + (4 * m + 2 * u + word / 4) * both;
            for (int e = 0; e < count; ++e) total += double(left[left_part + e]) * double(right[right_part + e]);
          }
          sum = cut_off(total);
        };
        if (exact) add(count, 0), add(0, count);
        add(0, 0);
      }
  __syncwarp();
}

inline __device__ void load_matrices(uint32 (&x)[4], const void* row) {
  for (int i = 0; i < 4; ++i) x[i] = ((const uint32*)__shfl_sync(0xffffffffu, row, 8 * i + lane() / 4))[lane() % 4];
}
inline __device__ void load_transposed(uint32 (&x)[4], const void* row) {
  for (int i = 0; i < 4; ++i) {
    const int first = 8 * i + lane() % 4 * 2;
    const void *const even = __shfl_sync(0xffffffffu, row, first), *const odd = __shfl_sync(0xffffffffu, row, first + 1);
    x[i] = ((const unsigned short*)even)[lane() / 4] | uint32(((const unsigned short*)odd)[lane() / 4]) << 16;
  }
}

inline __device__ void start_copy(void* to, const void* from, bool present) {
  typedef Pack<uint32, 4> Words;
  *(Words*)to = present ? *(const Words*)from : Words{};
}
inline __device__ void end_copies() {}

inline __device__ uint32 tf32_of(float x) { return x - x == 0 ? (bits_of(x) + 0x1000u) & 0xffffe000u : bits_of(x); }
template <class T> inline __device__ uint32 pair_of(T, float first, float second) {
  return Element<T>::of(first).bits | uint32(Element<T>::of(second).bits) << 16;
}
inline __device__ float power_of_two(float x) { return exp2f(x); }

#endif
)CUDA";

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
