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

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const RefuseIf& op) {
  using namespace cuda_kernels;
  Words words;
  words.add_report(op.found.ordinal, op.op, op.what);
  words.add(op.found.data);
  launch_typed(op.found.ordinal, refuse_if_kernel, {}, {1, 1}, words);
}

}  // namespace backend
}  // namespace tern
