// The functions of copy.hpp that are not templates.
#pragma once
#include "copy.hpp"

namespace tern::inline TERN_BUILD::backend {

[[gnu::noinline]] TERN_INLINE void kernel(On<Cuda>, Types<>, const Copy& op) {
  const Array &out = op.out, &in = op.in;
  const Array* const arrays[] = {&out, &in};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays + 1, 1);
  if (out.numel == 0) return;
  const LoopNest loops(out.shape(), arrays, 2);
  const int n = loops.depth();
  if (n == 0 || (n == 1 && loops.stride(0, 0) == 1 && loops.stride(0, 1) == 1))
    return cuda::detail::start_on_device(ordinal, out.data, in.data, cuda_kernels::bytes_of(out));
  if (n == 2 && loops.stride(1, 0) == 1 && loops.stride(0, 1) == 1) {
    const Index rows = loops.size(0), columns = loops.size(1), tiles = (columns + 31) / 32;
    return cuda_kernels::launch_typed(ordinal, cuda_kernels::transpose_kernel, {out.dtype}, {(rows + 31) / 32 * tiles},
                                      {.out = out.data,
                                       .in = in.data,
                                       .rows = rows,
                                       .columns = columns,
                                       .row_tiles = tiles,
                                       .out_row = loops.stride(0, 0),
                                       .in_column = loops.stride(1, 1)});
  }
  cuda_kernels::launch_typed(ordinal, cuda_kernels::strided_copy_kernel, {out.dtype}, cuda_kernels::grid_for(out.numel),
                             {.count = out.numel, .out = out.data, .in = in.data, .loops = cuda_kernels::copy_loops(loops)});
}

}  // namespace tern::backend
