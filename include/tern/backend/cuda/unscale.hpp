// Division of gradients by a scale, and the search for what is not finite among them. Scale and flag stay on the
// device.
#pragma once
#include "../unscale.hpp"
#include "codegen/chunks.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(UnscaleParameters,
                   Pointer<const float> scale;
                   Pointer<float> found; Index sets;                  // gradients
                   Index chunk; Index ends[240]; Pointer<T0> g[240];  // a kernel takes 4 KB of parameters
);
inline constexpr KernelOf<UnscaleParameters> unscale_kernel{"unscale",
                                                            R"CUDA(
extern "C" __global__ void unscale(const UnscaleParameters p) {
  const C0 inverse = C0(1 / double(*p.scale));
  bool finite = true;
  const Chunk chunk(p);
  T0* const gradient = p.g[chunk.set];
  for (Index i = chunk.first + threadIdx.x; i < chunk.last; i += 256) {
    const C0 g = C0(promote(gradient[i]));
    finite = finite && g - g == C0(0);
    gradient[i] = Element<T0>::of(g * inverse);
  }
  if (__syncthreads_or(!finite) && !threadIdx.x) atomicExch(p.found, 1.f);
}
)CUDA",
                                                            {chunks_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const Unscale& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "unscale.ipp"
#endif
