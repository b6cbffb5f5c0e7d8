// Random numbers by counter: element i of a stream is the same as on the CPU.
#pragma once
#include "../random.hpp"
#include "../../core/random.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

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
inline __device__ uint32 random_word(const uint64* state, Index i) { return philox(state[0], state[1], uint64(i) / 4).word[i % 4]; }
// The i-th number in [0, 1).
inline __device__ float unit(const uint64* state, Index i, float) { return float(random_word(state, i) >> 8) * 5.9604644775390625e-8f; }
inline __device__ double unit(const uint64* state, Index i, double) {
  const Block b = philox(state[0], state[1], uint64(i) / 2);
  const uint64 word = i % 2 ? uint64(b.word[2]) << 32 | b.word[3] : uint64(b.word[0]) << 32 | b.word[1];
  return double(word >> 11) * 1.1102230246251565e-16;
}
)CUDA";

// Words: n, seed, stream, out, two numbers of type double.

inline constexpr Kernel uniform_kernel{"uniform", R"CUDA(
extern "C" __global__ void uniform(const Words<6> p) {
  const double low = number<double>(p.word[4]), high = number<double>(p.word[5]);
  const C0 shift = C0(low), scale = C0(high - low);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads())
    p.pointer<T0>(3)[i] = Element<T0>::of(shift + scale * unit(p.word + 1, i, C0()));
}
)CUDA", {philox_text}};

// Box and Muller: "A note on the generation of random normal deviates", 1958.
inline constexpr Kernel normal_kernel{"normal", R"CUDA(
extern "C" __global__ void normal(const Words<6> p) {
  const C0 mean = C0(number<double>(p.word[4])), std = C0(number<double>(p.word[5]));
  #pragma unroll 1
  for (Index pair = 2 * first_thread(); pair < p.index(0); pair += 2 * all_threads()) {
    const C0 radius = sqrt(C0(-2) * log(C0(1) - unit(p.word + 1, pair, C0())));
    const C0 angle = C0(6.283185307179586) * unit(p.word + 1, pair + 1, C0());
    p.pointer<T0>(3)[pair] = Element<T0>::of(mean + std * radius * cos(angle));
    if (pair + 1 < p.index(0)) p.pointer<T0>(3)[pair + 1] = Element<T0>::of(mean + std * radius * sin(angle));
  }
}
)CUDA", {philox_text}};

// Words 4 and 5: low, and how many numbers there are.
inline constexpr Kernel integers_kernel{"integers", R"CUDA(
extern "C" __global__ void integers(const Words<6> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Block b = philox(p.word[1], p.word[2], uint64(i) / 2);
    const uint32 high = b.word[i % 2 * 2], low = b.word[i % 2 * 2 + 1];
    const uint64 range = p.word[5], range_high = range >> 32, range_low = range & 0xffffffffu;
    // The upper half of the 128 bits of (high, low) * range.
    const uint64 middle = uint64(low) * range_high + (uint64(low) * range_low >> 32), other = uint64(high) * range_low;
    const uint64 carry = ((middle & 0xffffffffu) + (other & 0xffffffffu)) >> 32;
    p.pointer<T0>(3)[i] = Element<T0>::of(Index(uint64(high) * range_high + (middle >> 32) + (other >> 32) + carry) + p.index(4));
  }
}
)CUDA", {philox_text}};

// Half a word for an element: of the 128 that 16 blocks serve, element 32 w + l has the lower half of word w of block l. Word 4: in; 5:
// how many of 65536 are kept; 6: by what they are multiplied.
inline constexpr Kernel dropout_kernel{"dropout", R"CUDA(
extern "C" __global__ void dropout(const Words<7> p) {
  const C0 scale = C0(number<double>(p.word[6]));
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const uint32 word = philox(p.word[1], p.word[2], uint64(i / 128 * 16 + i % 16)).word[i % 128 / 32];
    const bool kept = (i % 32 < 16 ? word & 0xffffu : word >> 16) < p.word[5];
    p.pointer<T0>(3)[i] = Element<T0>::of(kept ? scale * C0(wide(p.pointer<T0>(4)[i])) : C0(0));
  }
}
)CUDA", {philox_text}};

/// The words that all of them begin with.
TERN_API Words random_words(RandomState state, const Array& out);

TERN_API void run_random(const Kernel& kernel, const Array& out, const Words& words);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Uniform& op) {
  using namespace cuda_kernels;
  Words words = random_words(op.state, op.out);
  words.add_number(op.low);
  words.add_number(op.high);
  run_random(uniform_kernel, op.out, words);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Normal& op) {
  using namespace cuda_kernels;
  Words words = random_words(op.state, op.out);
  words.add_number(op.mean);
  words.add_number(op.std);
  run_random(normal_kernel, op.out, words);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Integers& op) {
  using namespace cuda_kernels;
  Words words = random_words(op.state, op.out);
  words.add(op.low);
  words.add(op.high - op.low);
  run_random(integers_kernel, op.out, words);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Dropout& op) {
  using namespace cuda_kernels;
  Words words = random_words(op.state, op.out);
  words.add(op.in.data);
  words.add(Index((1 - op.p) * 65536 + 0.5));
  words.add_number(op.p < 1 ? 1 / (1 - op.p) : 0.0);
  run_random(dropout_kernel, op.out, words);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "random.ipp"
#endif
