// Random numbers by counter: element i of a stream is the same as on the CPU.
#pragma once
#include "../random.hpp"
#include "../../core/random.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// What all of these kernels' parameters begin with. A replay of a graph patches seed and stream: see random_words.
TERN_KERNEL_STRUCT(RandomElements, Index count; uint64 seed; uint64 stream; Pointer<T0> out;);
inline constexpr const char* philox_text = R"CUDA(
struct Block { uint32 word[4]; };
inline __device__ Block philox(uint64 seed, uint64 stream, uint64 counter) {
  uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(stream), c3 = uint32(stream >> 32);
  uint32 k0 = uint32(seed), k1 = uint32(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64 p0 = uint64(0xD2511F53u) * c0, p1 = uint64(0xCD9E8D57u) * c2;
    c0 = uint32(p1 >> 32) ^ c1 ^ k0;
    c1 = uint32(p1);
    c2 = uint32(p0 >> 32) ^ c3 ^ k1;
    c3 = uint32(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Block{{c0, c1, c2, c3}};
}
// A block makes `made` numbers in [0, 1); this is the k-th.
enum { made = 16 / sizeof(C0) };
inline __device__ float unit(const Block& b, int k, float) { return float(b.word[k] >> 8) * 5.9604644775390625e-8f; }
inline __device__ double unit(const Block& b, int k, double) {
  return double((uint64(b.word[2 * k]) << 32 | b.word[2 * k + 1]) >> 11) * 1.1102230246251565e-16;
}
template <int n, class T> inline __device__ bool is_aligned(const T* p) { return uint64(p) % sizeof(Pack<T, n>) == 0; }
// A thread draws a block and writes the n elements that make(block, values) makes of it.
template <int n, class F> inline __device__ void fill(const RandomElements& to, const F& make) {
  const bool aligned = is_aligned<n>(to.out);
  #pragma unroll 1
  for (Index b = first_thread(); b * n < to.count; b += all_threads()) {
    Pack<T0, n> values;
    make(philox(to.seed, to.stream, uint64(b)), values.at);
    T0* const out = to.out + b * n;
    if (aligned && (b + 1) * n <= to.count) *(Pack<T0, n>*)out = values;
    else
      for (int k = 0; k < n; ++k)
        if (b * n + k < to.count) out[k] = values.at[k];
  }
}
)CUDA";

TERN_KERNEL_STRUCT(UniformParameters, RandomElements to; double low; double high;);
inline constexpr KernelOf<UniformParameters> uniform_kernel{"uniform",
                                                            R"CUDA(
extern "C" __global__ void uniform(const Words<UniformParameters> words) {
  const UniformParameters& p = words.get();
  const C0 shift = C0(p.low), scale = C0(p.high - p.low);
  fill<made>(p.to, [&](const Block& b, T0* values) {
    for (int k = 0; k < made; ++k) values[k] = Element<T0>::of(shift + scale * unit(b, k, C0()));
  });
}
)CUDA",
                                                            {RandomElements::source, words_text, philox_text}};

// Box and Muller: "A note on the generation of random normal deviates", 1958.
TERN_KERNEL_STRUCT(NormalParameters, RandomElements to; double mean; double std;);
inline constexpr KernelOf<NormalParameters> normal_kernel{"normal",
                                                          R"CUDA(
// Normal numbers cost arithmetic, not memory. So floats get functions without branches for the arguments that there are, as accurate as
// the library's to a unit in the last place.
// sqrt(-2 log(x)) for x = 2^-24 ... 1: with the fraction m in [2/3, 4/3), log(x) = log(1 + (m - 1)) + exponent log(2).
inline __device__ float radius_of(float x) {
  const uint32 bits = bits_of(x), exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  const float f = float_of(bits - exponent) - 1.0f, square = f * f;
  const float even = fmaf(fmaf(fmaf(-0.130310059f, square, -0.121483512f), square, -0.166846126f), square, -0.249996200f);
  const float odd = fmaf(fmaf(0.140869141f, square, 0.139814854f), square, 0.200120345f);
  const float log1p = fmaf(fmaf(fmaf(fmaf(odd, f, even), f, 0.333331972f), f, -0.5f), square, f);
  const float minus_two_logs = -2.0f * fmaf(float(int32(exponent)), 8.26295832e-8f, log1p);   // 2^-23 log(2)
  return minus_two_logs * rsqrtf(fmaxf(minus_two_logs, 1e-30f));
}
inline __device__ double radius_of(double x) { return sqrt(-2 * log(x)); }
// Both functions of an angle in [0, 2 pi], from one reduction by quarters of a turn (Cody, Waite: "Software manual for the elementary
// functions", 1980).
inline __device__ void sine_and_cosine(float angle, float& sine, float& cosine) {
  const float shifted = fmaf(angle, 0.636619772f, 12582912.0f), quarters = shifted - 12582912.0f;   // rounded to a whole number
  const float x = fmaf(quarters, 4.37113883e-8f, fmaf(quarters, -1.57079637f, angle)), square = x * x;
  const float s = fmaf(x * square, fmaf(square, fmaf(square, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f), x);
  const float c = fmaf(square * square, fmaf(square, fmaf(square, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f),
                       fmaf(square, -0.5f, 1.0f));
  const uint32 quarter = bits_of(shifted);
  const bool is_odd = quarter & 1;
  sine = float_of(bits_of(is_odd ? c : s) ^ (quarter & 2) << 30);
  cosine = float_of(bits_of(is_odd ? s : c) ^ ((quarter + 1) & 2) << 30);
}
inline __device__ void sine_and_cosine(double angle, double& sine, double& cosine) {
  sine = sin(angle);
  cosine = cos(angle);
}
extern "C" __global__ void normal(const Words<NormalParameters> words) {
  const NormalParameters& p = words.get();
  const C0 mean = C0(p.mean), std = C0(p.std);
  fill<made>(p.to, [&](const Block& b, T0* values) {
    for (int k = 0; k < made; k += 2) {
      const C0 radius = radius_of(C0(1) - unit(b, k, C0()));
      C0 sine, cosine;
      sine_and_cosine(C0(6.283185307179586) * unit(b, k + 1, C0()), sine, cosine);
      values[k] = Element<T0>::of(mean + std * radius * cosine);
      values[k + 1] = Element<T0>::of(mean + std * radius * sine);
    }
  });
}
)CUDA",
                                                          {RandomElements::source, words_text, philox_text}};

TERN_KERNEL_STRUCT(IntegersParameters,
                   RandomElements to;
                   Index low; uint64 range;  // how many numbers there are
);
inline constexpr KernelOf<IntegersParameters> integers_kernel{"integers",
                                                              R"CUDA(
extern "C" __global__ void integers(const Words<IntegersParameters> words) {
  const IntegersParameters& p = words.get();
  const uint64 range_high = p.range >> 32, range_low = p.range & 0xffffffffu;
  fill<2>(p.to, [&](const Block& b, T0* values) {
    for (int k = 0; k < 2; ++k) {
      const uint32 high = b.word[2 * k], low = b.word[2 * k + 1];
      // The upper half of the 128 bits of (high, low) * range.
      const uint64 middle = uint64(low) * range_high + (uint64(low) * range_low >> 32), other = uint64(high) * range_low;
      const uint64 carry = ((middle & 0xffffffffu) + (other & 0xffffffffu)) >> 32;
      values[k] = Element<T0>::of(Index(uint64(high) * range_high + (middle >> 32) + (other >> 32) + carry) + p.low);
    }
  });
}
)CUDA",
                                                              {RandomElements::source, words_text, philox_text}};

// Half a word for an element: of the 128 that 16 blocks serve, element 32 w + l has the lower half of word w of block
// l. Thread b draws block b and writes elements 8 b to 8 b + 7. Which of them stay comes from the ballots of the 16
// threads that draw for the 128: bit l of the k-th ballot is that of element 16 k + l, and bit 16 + l that of the same
// element of the next 128.
TERN_KERNEL_STRUCT(DropoutParameters,
                   RandomElements to;
                   Pointer<const T0> in; uint64 bound;  // of 65536
                   double scale;                        // by what the kept are multiplied
);
inline constexpr KernelOf<DropoutParameters> dropout_kernel{"dropout",
                                                            R"CUDA(
extern "C" __global__ void dropout(const Words<DropoutParameters> words) {
  const DropoutParameters& p = words.get();
  const C0 scale = C0(p.scale);
  const uint32 bound = uint32(p.bound);
  const int lane = threadIdx.x % 32;
  const bool aligned = is_aligned<8>(p.to.out) && is_aligned<8>(p.in);
  #pragma unroll 1
  for (Index b = first_thread(); (b - lane) * 8 < p.to.count; b += all_threads()) {   // for all lanes or for none
    const Block block = philox(p.to.seed, p.to.stream, uint64(b));
    uint32 kept = 0;
    for (int k = 0; k < 8; ++k) {
      const uint32 word = block.word[k / 2], ballot = __ballot_sync(~0u, (k % 2 ? word >> 16 : word & 0xffffu) < bound);
      if (lane % 16 / 2 == k) kept = ballot;
    }
    kept >>= lane / 16 * 16 + lane % 2 * 8;
    const auto result = [&](T0 x, int k) { return Element<T0>::of(kept >> k & 1 ? scale * C0(promote(x)) : C0(0)); };
    const T0* const in = p.in + 8 * b;
    T0* const out = p.to.out + 8 * b;
    if (aligned && 8 * b + 8 <= p.to.count) {
      Pack<T0, 8> x = *(const Pack<T0, 8>*)in;
      for (int k = 0; k < 8; ++k) x.at[k] = result(x.at[k], k);
      *(Pack<T0, 8>*)out = x;
    } else {
      #pragma unroll 1
      for (int k = 0; k < 8 && 8 * b + k < p.to.count; ++k) out[k] = result(in[k], k);
    }
  }
}
)CUDA",
                                                            {RandomElements::source, words_text, philox_text}};

inline RandomElements random_elements(RandomState state, const Array& out) {
  return {.count = out.numel, .seed = state.seed, .stream = state.stream, .out = out.data};
}

/// How many of a type's numbers in [0, 1) a block of random words makes.
template <class T>
constexpr Index made_by_block = 16 / Index(sizeof(compute_t<T>));

TERN_API void run_random_words(const Kernel& kernel, const Array& out, Index each, const std::uint64_t* words,
                               int count);

/// Launches a kernel that writes `out`, `each` elements a thread; where the thread captures a graph, each replay draws
/// other numbers.
template <class P>
void run_random(const KernelOf<P>& kernel, const Array& out, Index each, const std::type_identity_t<P>& parameters) {
  static_assert(offsetof(P, to) == 0 && offsetof(RandomElements, seed) == 8 && offsetof(RandomElements, stream) == 16);
  run_random_words(kernel, out, each, reinterpret_cast<const std::uint64_t*>(&parameters), int(sizeof(P) / 8));
}

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Uniform& op) {
  using namespace cuda_kernels;
  run_random(uniform_kernel, op.out, made_by_block<T>,
             {.to = random_elements(op.state, op.out), .low = op.low, .high = op.high});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Normal& op) {
  using namespace cuda_kernels;
  run_random(normal_kernel, op.out, made_by_block<T>,
             {.to = random_elements(op.state, op.out), .mean = op.mean, .std = op.std});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Integers& op) {
  using namespace cuda_kernels;
  run_random(integers_kernel, op.out, 2,
             {.to = random_elements(op.state, op.out), .low = op.low, .range = uint64(op.high - op.low)});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Dropout& op) {
  using namespace cuda_kernels;
  run_random(dropout_kernel, op.out, 8,
             {.to = random_elements(op.state, op.out),
              .in = op.in.data,
              .bound = uint64((1 - op.p) * 65536 + 0.5),
              .scale = op.p < 1 ? 1 / (1 - op.p) : 0.0});
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "random.ipp"
#endif
