// The functions of arg_extreme.hpp that are not templates.
#pragma once
#include "arg_extreme.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_NOINLINE void run_arg_extreme(bool largest, const Array& out, const Array& in, int dim) {
  const Array* const arrays[] = {&in};
  const int ordinal = common_ordinal(out, arrays, 1);
  detail::LoopNest others(1);
  for (int i = 0; i < in.ndim; ++i)
    if (i != dim) others.append(in.dims[i], &in.strides[i]);
  const int dims = others.depth();
  const RowBlocks rows(out.numel, in.dims[dim], dims && others.stride(dims - 1, 0) == 1);
  rows.launch(ordinal, arg_extreme_kernel, in.dtype,
              {.rows = rows.layout,
               .n = in.dims[dim],
               .stride = in.strides[dim],
               .largest = largest,
               .out = out.data,
               .in = in.data,
               .others = array_loops(others)});
}

}}}  // namespace tern::backend::cuda_kernels
