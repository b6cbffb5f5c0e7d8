// The parameters of attention's kernels, and the kernel that all gradients begin with.
#pragma once
#include "../../device/cuda/memory.hpp"
#include "../attention.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_KERNEL_STRUCT(AttentionInput, Index matrices; Index queries; Index keys; Index size; Index width; Index causal;
                   double scale; Pointer<const T0> q; Pointer<const T0> k; Pointer<const T0> v;);

inline constexpr const char* attention_sees_text = R"CUDA(
// Whether query i sees key j.
inline __device__ bool sees(const AttentionInput& in, Index i, Index j) {
  return i < in.queries && j < in.keys && (j <= i || !in.causal);
}
)CUDA";

TERN_KERNEL_STRUCT(AttentionParameters, AttentionInput in; Pointer<T0> out; Pointer<C0> log_sums;);
/// With weights P and each query's mean m = Σ g out: dV = Pᵀ G, dS = P (G Vᵀ - m), dQ = dS K scale and dK = dSᵀ Q
/// scale.
TERN_KERNEL_STRUCT(AttentionGradientParameters, AttentionInput in; Pointer<const T0> g; Pointer<const T0> out;
                   Pointer<const C0> log_sums; Pointer<C0> means; Pointer<T0> dq; Pointer<T0> dk; Pointer<T0> dv;);

// A warp for each query.
inline constexpr KernelOf<AttentionGradientParameters> attention_means_kernel{"attention_means",
                                                                              R"CUDA(
extern "C" __global__ void attention_means(const AttentionGradientParameters p) {
  const Index query = blockIdx.x * Index(8) + threadIdx.x / 32, first = query * p.in.width;
  if (query >= p.in.matrices * p.in.queries) return;
  C0 sum = 0;
  #pragma unroll 1
  for (int i = threadIdx.x % 32; i < p.in.width; i += 32) sum = multiply_add(promote(p.g[first + i]), promote(p.out[first + i]), sum);
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) p.means[query] = sum;
}
)CUDA",
                                                                              {AttentionInput::source}};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
