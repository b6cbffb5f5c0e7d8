// An op's check of elements: one thread reports what a kernel before it has found.
#pragma once
#include "../refuse.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words: the report's three, whether there is something to report.
inline constexpr Kernel refuse_if_kernel{"refuse_if", R"CUDA(
extern "C" __global__ void refuse_if(const Words<4> p) {
  if (*p.pointer<bool>(3)) report(p, 0, 0, 0);
}
)CUDA"};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const RefuseIf& op);

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "refuse.ipp"
#endif
