// Division of gradients by a scale, and the search for what is not finite among them. Scale and flag stay on the device.
#pragma once
#include "../unscale.hpp"
#include "codegen/parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(UnscaleParameters,
  Index count;
  Pointer<T0> g;
  Pointer<const float> scale;
  Pointer<float> found;
);
inline constexpr KernelOf<UnscaleParameters> unscale_kernel{"unscale", R"CUDA(
extern "C" __global__ void unscale(const UnscaleParameters p) {
  const C0 inverse = C0(1 / double(*p.scale));
  bool finite = true;
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const C0 g = C0(wide(p.g[i]));
    finite = finite && g - g == C0(0);
    p.g[i] = Element<T0>::of(g * inverse);
  }
  if (!finite) *p.found = 1;
}
)CUDA"};

TERN_API void run_unscale(const Unscale& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Unscale& op) {
  cuda_kernels::run_unscale(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "unscale.ipp"
#endif
