// An op's check of elements: one thread reports what a kernel before it has found.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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

[[gnu::noinline]] inline void refuse_if(Cuda, const char* op, BadElement what, const Array& found) {
  cuda_kernels::Words words;
  words.add_report(found.ordinal, op, what);
  words.add(found.data);
  cuda_kernels::launch_typed(found.ordinal, cuda_kernels::refuse_if_kernel, {}, {1, 1}, words);
}

}  // namespace backend
}  // namespace tern
