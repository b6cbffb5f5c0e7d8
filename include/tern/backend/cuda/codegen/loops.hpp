// A loop nest as a kernel's parameter.
#pragma once
#include "../../../core/loop_nest.hpp"
#include "parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

static_assert(max_dims == 8, "the kernels' prelude says how many dimensions there are");

/// Loops over one array.
TERN_KERNEL_STRUCT(ArrayLoops,
  Index depth;
  Index size[max_dims];
  Index stride[max_dims];
);

/// Loops over an array that is written and one that is read.
TERN_KERNEL_STRUCT(CopyLoops,
  Index depth;
  Index size[max_dims];
  Index to[max_dims];
  Index from[max_dims];
);

// The offsets of a position.
inline constexpr const char* loops_text = R"CUDA(
inline __device__ Index offset_at(const ArrayLoops& loops, Index position) {
  Index offset = 0;
  #pragma unroll 1
  for (int d = int(loops.depth); d-- > 0;) {
    const Index size = loops.size[d], j = d ? position % size : position;
    if (d) position /= size;
    offset += j * loops.stride[d];
  }
  return offset;
}
struct CopyOffsets {
  Index to = 0, from = 0;
  __device__ CopyOffsets(const CopyLoops& loops, Index position) {
    #pragma unroll 1
    for (int d = int(loops.depth); d-- > 0;) {
      const Index size = loops.size[d], j = d ? position % size : position;
      if (d) position /= size;
      to += j * loops.to[d];
      from += j * loops.from[d];
    }
  }
};
)CUDA";

TERN_API ArrayLoops array_loops(const LoopNest& nest);
/// Operand 0 is written, operand 1 is read.
TERN_API CopyLoops copy_loops(const LoopNest& nest);

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "loops.ipp"
#endif
