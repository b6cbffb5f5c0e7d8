// Sums over many gradients, and their scaling: a launch for 240 of them.
#pragma once
#include "../clip.hpp"
#include "../../device/cuda/memory.hpp"
#include "codegen/chunks.hpp"
#include "codegen/parameters.hpp"
#include "codegen/team.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(PowerSumParameters,
                   double power;
                   Pointer<double> sums;  // of each block
                   Index sets;            // gradients
                   Index chunk; Index ends[240]; Pointer<const T0> x[240];);
inline constexpr KernelOf<PowerSumParameters> power_sum_kernel{"power_sum",
                                                               R"CUDA(
extern "C" __global__ void power_sum(const PowerSumParameters p) {
  __shared__ double partial[256];
  const Chunk chunk(p);
  const T0* const x = p.x[chunk.set];
  const C0 power = C0(p.power);
  C0 sum = 0;
  for (Index i = chunk.first + threadIdx.x; i < chunk.last; i += 256) {
    const C0 v = abs(C0(promote(x[i])));
    sum += power == C0(2) ? v * v : power == C0(1) ? v : pow(v, power);
  }
  const double total = Team{int(threadIdx.x), 256, 1}.total(partial, double(sum));
  if (threadIdx.x == 0) p.sums[blockIdx.x] = total;
}
)CUDA",
                                                               {chunks_text, team_text}};

// One block.
TERN_KERNEL_STRUCT(PowerTotalParameters, Pointer<const double> sums; Index count; Pointer<double> total;);
inline constexpr KernelOf<PowerTotalParameters> power_total_kernel{"power_total",
                                                                   R"CUDA(
extern "C" __global__ void power_total(const PowerTotalParameters p) {
  __shared__ double partial[256];
  double sum = 0;
  #pragma unroll 1
  for (Index i = threadIdx.x; i < p.count; i += 256) sum += p.sums[i];
  sum = Team{int(threadIdx.x), 256, 1}.total(partial, sum);
  if (threadIdx.x == 0) *p.total = sum;
}
)CUDA",
                                                                   {team_text}};

TERN_KERNEL_STRUCT(ScaleGradientsParameters, Pointer<const double> factor; Index sets; Index chunk; Index ends[240];
                   Pointer<T0> x[240];);
inline constexpr KernelOf<ScaleGradientsParameters> scale_gradients_kernel{"scale_gradients",
                                                                           R"CUDA(
extern "C" __global__ void scale_gradients(const ScaleGradientsParameters p) {
  const Chunk chunk(p);
  const C0 factor = C0(*p.factor);
  T0* const x = p.x[chunk.set];
  for (Index i = chunk.first + threadIdx.x; i < chunk.last; i += 256) x[i] = Element<T0>::of(C0(promote(x[i])) * factor);
}
)CUDA",
                                                                           {chunks_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const PowerSum& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const ScaleGradients& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "clip.ipp"
#endif
