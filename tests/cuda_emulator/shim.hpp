// Included before every kernel: CUDA's device language for the host's compiler. One thread runs at a time, so atomics
// are plain operations; the executor sets the indices before it runs a thread.
#pragma once
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel_abi.hpp"

#define __global__ static
#define __device__
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __shared__ EMULATED_SHARED_GAP static EMULATED_SHARED

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

static emulator::Services emulated_services;
static void* emulated_dynamic_shared;
extern "C" char __start_emulated_shared[], __stop_emulated_shared[];

#ifdef EMULATED_CHECKED_ACCESSES
#include "access_hooks.hpp"
#define EMULATED_GAPS_BEGIN __start_emulated_shared_gaps
#define EMULATED_GAPS_END __stop_emulated_shared_gaps
#else
#define EMULATED_SHARED __attribute__((section("emulated_shared")))
#define EMULATED_SHARED_GAP
#define EMULATED_UNWATCHED
#define EMULATED_GAPS_BEGIN nullptr
#define EMULATED_GAPS_END nullptr
static inline void emulated_access(const void*, size_t, emulator::Access, bool) {}
#endif

// Barriers. __COUNTER__ tells one place from another, so that divergent barriers are seen.
#define __syncthreads() ((void)emulated_services.barrier(__COUNTER__, emulator::BarrierOp::plain, 0))
#define __syncthreads_count(p) emulated_services.barrier(__COUNTER__, emulator::BarrierOp::count, !!(p))
#define __syncthreads_or(p) emulated_services.barrier(__COUNTER__, emulator::BarrierOp::any, !!(p))
static inline void __threadfence_system() {}

// Warps.
static inline int emulated_lane() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31; }
template <class T>
inline T emulated_shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = emulated_services.warp(emulator::WarpOp::shuffle, mask, bits, source);
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return emulated_shuffle(mask, value, (emulated_lane() & ~(width - 1)) + (source & (width - 1)));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = emulated_lane(), end = (lane & ~(width - 1)) + width, source = lane + static_cast<int>(delta);
  return emulated_shuffle(mask, value, source < end ? source : lane);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = emulated_lane(), begin = lane & ~(width - 1), source = lane - static_cast<int>(delta);
  return emulated_shuffle(mask, value, source >= begin ? source : lane);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = emulated_lane(), end = (lane & ~(width - 1)) + width, source = lane ^ bits;
  return emulated_shuffle(mask, value, source < end ? source : lane);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(emulated_services.warp(emulator::WarpOp::ballot, mask, !!predicate, 0));
}
static inline void __syncwarp(unsigned mask = ~0u) { emulated_services.warp(emulator::WarpOp::sync, mask, 0, 0); }

// Atomics: the second argument takes the pointer's type, as the overloads for each type do.
template <class T>
struct EmulatedSame {
  using type = T;
};
#define EMULATED_ATOMIC(name, expression)                                              \
  template <class T>                                                                   \
  EMULATED_UNWATCHED inline T name(T* address, typename EmulatedSame<T>::type value) { \
    emulated_access(address, sizeof(T), emulator::Access::atomic, true);               \
    const T old = *address;                                                            \
    *address = expression;                                                             \
    return old;                                                                        \
  }
EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ATOMIC(atomicMax, value > old ? value : old)
template <class T>
EMULATED_UNWATCHED inline T atomicCAS(T* address, typename EmulatedSame<T>::type compare,
                                      typename EmulatedSame<T>::type value) {
  emulated_access(address, sizeof(T), emulator::Access::atomic, true);
  const T old = *address;
  if (old == compare) *address = value;
  return old;
}

// Arithmetic.
#define __expf(x) expf(x)  // glibc declares a function of this name
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
// Never contracted, so never inlined.
static __attribute__((noinline, unused)) float __fadd_rn(float a, float b) { return a + b; }
static __attribute__((noinline, unused)) float __fmul_rn(float a, float b) { return a * b; }

template <class To, class From>
inline To emulated_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
static inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
static inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (static_cast<uint64_t>(a) * b) >> 32; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline void __trap() { __builtin_trap(); }
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
#ifdef EMULATED_DEVICE_ARITHMETIC
#include "device_math.hpp"
#endif
template <class A, class B>
inline auto min(A a, B b) -> decltype(a + b) {
  return a < b ? a : b;
}
template <class A, class B>
inline auto max(A a, B b) -> decltype(a + b) {
  return a < b ? b : a;
}

// The table of kernels. A launch passes pointers to its arguments with no sizes, so these come from the function's
// type.
template <unsigned... I>
struct EmulatedIndices {};
template <unsigned N, unsigned... I>
struct EmulatedCount : EmulatedCount<N - 1, N - 1, I...> {};
template <unsigned... I>
struct EmulatedCount<0, I...> {
  using type = EmulatedIndices<I...>;
};
template <class F>
struct EmulatedSignature;
template <class... A>
struct EmulatedSignature<void (*)(A...)> {
  struct Layout {
    unsigned short offsets[sizeof...(A) + 1], sizes[sizeof...(A) + 1];
    unsigned bytes;
  };
  static constexpr Layout lay_out() {
    Layout layout{};
    const unsigned sizes[] = {static_cast<unsigned>(sizeof(A))..., 0};
    const unsigned alignments[] = {static_cast<unsigned>(alignof(A))..., 1};
    unsigned offset = 0;
    for (unsigned i = 0; i < sizeof...(A); ++i) {
      offset = (offset + alignments[i] - 1) / alignments[i] * alignments[i];
      layout.offsets[i] = offset;
      layout.sizes[i] = sizes[i];
      offset += sizes[i];
    }
    layout.bytes = offset;
    return layout;
  }
  static constexpr Layout layout = lay_out();
  static_assert(layout.bytes <= emulator::max_parameter_bytes, "Formal parameter space overflowed");
  static constexpr unsigned count = sizeof...(A);

  template <auto Kernel, unsigned... I>
  static void call_with(const unsigned char* p, EmulatedIndices<I...>) {
    Kernel(*reinterpret_cast<const A*>(p + layout.offsets[I])...);
  }
  template <auto Kernel>
  static void call(const unsigned char* p) {
    call_with<Kernel>(p, typename EmulatedCount<sizeof...(A)>::type{});
  }
};
template <auto Kernel>
emulator::KernelEntry emulated_kernel(const char* name, unsigned max_threads) {
  using S = EmulatedSignature<decltype(Kernel)>;
  return {name, &S::template call<Kernel>, S::layout.offsets, S::layout.sizes, S::count, S::layout.bytes, max_threads};
}
// The anchor makes the section exist in every module. It stands here because clang makes a section that a precompiled
// header begins read-only.
#define EMULATED_MODULE(...)                                                                \
  EMULATED_SHARED_GAP                                                                       \
  static char emulated_shared_anchor[64] __attribute__((section("emulated_shared"), used)); \
  static const emulator::KernelEntry emulated_kernels[] = {__VA_ARGS__};                    \
  extern "C" __attribute__((visibility("default"))) emulator::KernelModule emulated_module; \
  emulator::KernelModule emulated_module = {&threadIdx.x,                                   \
                                            &blockIdx.x,                                    \
                                            &blockDim.x,                                    \
                                            &gridDim.x,                                     \
                                            &emulated_services,                             \
                                            &emulated_dynamic_shared,                       \
                                            __start_emulated_shared,                        \
                                            __stop_emulated_shared,                         \
                                            EMULATED_GAPS_BEGIN,                            \
                                            EMULATED_GAPS_END,                              \
                                            emulated_kernels,                               \
                                            sizeof emulated_kernels / sizeof *emulated_kernels};
