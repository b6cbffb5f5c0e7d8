// An op's check of elements: one thread reports what a kernel before it has found.
#pragma once
#include "../refuse.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(RefuseIfParameters,
                   ElementReport report;
                   Pointer<const bool> found;  // whether there is something to report
);
inline constexpr KernelOf<RefuseIfParameters> refuse_if_kernel{"refuse_if", R"CUDA(
extern "C" __global__ void refuse_if(const RefuseIfParameters p) {
  if (*p.found) p.report.note(0, 0);
}
)CUDA"};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const RefuseIf& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "refuse.ipp"
#endif
