// The functions of arg_extreme.hpp that are not templates.
#pragma once
#include "arg_extreme.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const ArgExtreme& op) {
  using namespace cuda_kernels;
  const Array &out = op.out, &in = op.in;
  const Array* const arrays[] = {&in};
  const int ordinal = common_ordinal(out, arrays, 1);
  detail::LoopNest others(1);
  for (int i = 0; i < in.ndim; ++i)
    if (i != op.dim) others.append(in.dims[i], &in.strides[i]);
  const int dims = others.depth();
  const RowBlocks rows(out.numel, in.dims[op.dim], dims && others.stride(dims - 1, 0) == 1);
  rows.launch(ordinal, arg_extreme_kernel, in.dtype,
              {.rows = rows.layout,
               .n = in.dims[op.dim],
               .stride = in.strides[op.dim],
               .largest = op.largest,
               .out = out.data,
               .in = in.data,
               .others = array_loops(others)});
}

}}}  // namespace tern::detail::backend
