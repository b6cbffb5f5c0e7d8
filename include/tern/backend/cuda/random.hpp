// Random numbers by counter: element i of a stream is the same as on the CPU.
#pragma once
#include "../random.hpp"
#include "../../core/random.hpp"
#include "codegen/parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// What all of these kernels' parameters begin with. A replay of a graph patches seed and stream: see random_words.
TERN_KERNEL_STRUCT(RandomElements,
  Index count;
  uint64 seed;
  uint64 stream;
  Pointer<T0> out;
);
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
inline __device__ uint32 random_word(const RandomElements& r, Index i) { return philox(r.seed, r.stream, uint64(i) / 4).word[i % 4]; }
// The i-th number in [0, 1).
inline __device__ float unit(const RandomElements& r, Index i, float) { return float(random_word(r, i) >> 8) * 5.9604644775390625e-8f; }
inline __device__ double unit(const RandomElements& r, Index i, double) {
  const Block b = philox(r.seed, r.stream, uint64(i) / 2);
  const uint64 word = i % 2 ? uint64(b.word[2]) << 32 | b.word[3] : uint64(b.word[0]) << 32 | b.word[1];
  return double(word >> 11) * 1.1102230246251565e-16;
}
)CUDA";

TERN_KERNEL_STRUCT(UniformParameters,
  RandomElements to;
  double low;
  double high;
);
inline constexpr KernelOf<UniformParameters> uniform_kernel{"uniform", R"CUDA(
extern "C" __global__ void uniform(const UniformParameters p) {
  const C0 shift = C0(p.low), scale = C0(p.high - p.low);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.to.count; i += all_threads())
    p.to.out[i] = Element<T0>::of(shift + scale * unit(p.to, i, C0()));
}
)CUDA", {RandomElements::source, philox_text}};

// Box and Muller: "A note on the generation of random normal deviates", 1958.
TERN_KERNEL_STRUCT(NormalParameters,
  RandomElements to;
  double mean;
  double std;
);
inline constexpr KernelOf<NormalParameters> normal_kernel{"normal", R"CUDA(
extern "C" __global__ void normal(const NormalParameters p) {
  const C0 mean = C0(p.mean), std = C0(p.std);
  const Index count = p.to.count;
  #pragma unroll 1
  for (Index pair = 2 * first_thread(); pair < count; pair += 2 * all_threads()) {
    const C0 radius = sqrt(C0(-2) * log(C0(1) - unit(p.to, pair, C0())));
    const C0 angle = C0(6.283185307179586) * unit(p.to, pair + 1, C0());
    p.to.out[pair] = Element<T0>::of(mean + std * radius * cos(angle));
    if (pair + 1 < count) p.to.out[pair + 1] = Element<T0>::of(mean + std * radius * sin(angle));
  }
}
)CUDA", {RandomElements::source, philox_text}};

TERN_KERNEL_STRUCT(IntegersParameters,
  RandomElements to;
  Index low;
  uint64 range;       // how many numbers there are
);
inline constexpr KernelOf<IntegersParameters> integers_kernel{"integers", R"CUDA(
extern "C" __global__ void integers(const IntegersParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.to.count; i += all_threads()) {
    const Block b = philox(p.to.seed, p.to.stream, uint64(i) / 2);
    const uint32 high = b.word[i % 2 * 2], low = b.word[i % 2 * 2 + 1];
    const uint64 range_high = p.range >> 32, range_low = p.range & 0xffffffffu;
    // The upper half of the 128 bits of (high, low) * range.
    const uint64 middle = uint64(low) * range_high + (uint64(low) * range_low >> 32), other = uint64(high) * range_low;
    const uint64 carry = ((middle & 0xffffffffu) + (other & 0xffffffffu)) >> 32;
    p.to.out[i] = Element<T0>::of(Index(uint64(high) * range_high + (middle >> 32) + (other >> 32) + carry) + p.low);
  }
}
)CUDA", {RandomElements::source, philox_text}};

// Half a word for an element: of the 128 that 16 blocks serve, element 32 w + l has the lower half of word w of block l.
TERN_KERNEL_STRUCT(DropoutParameters,
  RandomElements to;
  Pointer<const T0> in;
  uint64 kept;           // of 65536
  double scale;          // by what the kept are multiplied
);
inline constexpr KernelOf<DropoutParameters> dropout_kernel{"dropout", R"CUDA(
extern "C" __global__ void dropout(const DropoutParameters p) {
  const C0 scale = C0(p.scale);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.to.count; i += all_threads()) {
    const uint32 word = philox(p.to.seed, p.to.stream, uint64(i / 128 * 16 + i % 16)).word[i % 128 / 32];
    const bool kept = (i % 32 < 16 ? word & 0xffffu : word >> 16) < p.kept;
    p.to.out[i] = Element<T0>::of(kept ? scale * C0(wide(p.in[i])) : C0(0));
  }
}
)CUDA", {RandomElements::source, philox_text}};

inline RandomElements random_elements(RandomState state, const Array& out) {
  return {.count = out.numel, .seed = state.seed, .stream = state.stream, .out = out.data};
}

TERN_API void run_random_words(const Kernel& kernel, const Array& out, const std::uint64_t* words, int count);

/// Launches a kernel that writes `out`; where the thread captures a graph, each replay draws other numbers.
template <class P>
void run_random(const KernelOf<P>& kernel, const Array& out, const std::type_identity_t<P>& parameters) {
  static_assert(offsetof(P, to) == 0 && offsetof(RandomElements, seed) == 8 && offsetof(RandomElements, stream) == 16);
  run_random_words(kernel, out, reinterpret_cast<const std::uint64_t*>(&parameters), int(sizeof(P) / 8));
}

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Uniform& op) {
  using namespace cuda_kernels;
  run_random(uniform_kernel, op.out, {.to = random_elements(op.state, op.out), .low = op.low, .high = op.high});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Normal& op) {
  using namespace cuda_kernels;
  run_random(normal_kernel, op.out, {.to = random_elements(op.state, op.out), .mean = op.mean, .std = op.std});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Integers& op) {
  using namespace cuda_kernels;
  run_random(integers_kernel, op.out, {.to = random_elements(op.state, op.out), .low = op.low, .range = uint64(op.high - op.low)});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const Dropout& op) {
  using namespace cuda_kernels;
  run_random(dropout_kernel, op.out,
             {.to = random_elements(op.state, op.out),
              .in = op.in.data,
              .kept = uint64((1 - op.p) * 65536 + 0.5),
              .scale = op.p < 1 ? 1 / (1 - op.p) : 0.0});
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "random.ipp"
#endif
