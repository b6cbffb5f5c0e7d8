// A loop nest as a kernel's parameter.
#pragma once
#include "../../../core/loop_nest.hpp"
#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

using detail::max_dims;  // by the name that it has in kernels
static_assert(max_dims == 8, "the kernels' prelude says how many dimensions there are");

/// What the prelude's quotient() takes in place of a division by `size`, for positions below 2^31: a factor in the
/// lower half, in the upper half how far the product is shifted. Granlund and Montgomery: Division by invariant
/// integers using multiplication, 1994. 0 for a size that no such position reaches.
constexpr std::uint64_t reciprocal(Index size) {
  if (size < 1 || size >> 31) return 0;
  const auto divisor = std::uint64_t(size), shift = std::uint64_t(std::bit_width(divisor - 1));
  const std::uint64_t left = (std::uint64_t(1) << shift) - divisor;
  return (shift << 32) + (left << 32) / divisor + 1;
}

/// Loops over one array.
TERN_KERNEL_STRUCT(ArrayLoops, Index depth; Index count; Index size[max_dims]; uint64 reciprocal[max_dims];
                   Index stride[max_dims];);

/// Loops over an array that is written and one that is read.
TERN_KERNEL_STRUCT(CopyLoops, Index depth; Index count; Index size[max_dims]; uint64 reciprocal[max_dims];
                   Index to[max_dims]; Index from[max_dims];);

// The offsets of a position.
inline constexpr const char* loops_text = R"CUDA(
template <class P, class Loops, class Add> inline __device__ void walk_dimensions_by(const Loops& loops, P position, const Add& add) {
  #pragma unroll 1
  for (int d = int(loops.depth); d-- > 0;) add(d, Index(d ? take_index(position, loops.size[d], loops.reciprocal[d]) : position));
}
template <class Loops, class Add> inline __device__ void walk_dimensions(const Loops& loops, Index position, const Add& add) {
  if (loops.count >> 31) walk_dimensions_by<uint64>(loops, position, add);
  else walk_dimensions_by<uint32>(loops, position, add);
}
inline __device__ Index offset_at(const ArrayLoops& loops, Index position) {
  Index offset = 0;
  walk_dimensions(loops, position, [&](int d, Index j) { offset += j * loops.stride[d]; });
  return offset;
}
struct CopyOffsets {
  Index to = 0, from = 0;
  __device__ CopyOffsets(const CopyLoops& loops, Index position) {
    walk_dimensions(loops, position, [&](int d, Index j) {
      to += j * loops.to[d];
      from += j * loops.from[d];
    });
  }
};
)CUDA";

TERN_API ArrayLoops array_loops(const detail::LoopNest& nest);
/// Operand 0 is written, operand 1 is read.
TERN_API CopyLoops copy_loops(const detail::LoopNest& nest);

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "loops.ipp"
#endif
