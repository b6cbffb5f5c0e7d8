// The functions of loops.hpp that are not templates.
#pragma once
#include "loops.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE ArrayLoops array_loops(const detail::LoopNest& nest) {
  ArrayLoops loops{.depth = nest.depth(), .count = nest.count(), .size = {}, .reciprocal = {}, .stride = {}};
  for (int d = 0; d < nest.depth(); ++d)
    loops.size[d] = nest.size(d), loops.reciprocal[d] = reciprocal(nest.size(d)), loops.stride[d] = nest.stride(d, 0);
  return loops;
}

TERN_NOINLINE CopyLoops copy_loops(const detail::LoopNest& nest) {
  CopyLoops loops{.depth = nest.depth(), .count = nest.count(), .size = {}, .reciprocal = {}, .to = {}, .from = {}};
  for (int d = 0; d < nest.depth(); ++d) {
    loops.size[d] = nest.size(d), loops.reciprocal[d] = reciprocal(nest.size(d));
    loops.to[d] = nest.stride(d, 0), loops.from[d] = nest.stride(d, 1);
  }
  return loops;
}

}}}  // namespace tern::detail::backend::cuda_kernels
