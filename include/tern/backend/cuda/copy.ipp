// The functions of copy.hpp that are not templates.
#pragma once
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

namespace cuda_kernels {

inline constexpr std::uint64_t copy_key = 0x79706f63;  // "copy"

/// The dimension along which `in` lies in a run, if that is not the innermost one and both fill half a tile; or -1.
TERN_INLINE int transposed_row(const detail::LoopNest& loops) {
  const int column = loops.depth() - 1;
  if (loops.stride(column, 0) != 1 || loops.stride(column, 1) <= 1 || loops.size(column) < 16) return -1;
  for (int row = 0; row < column; ++row)
    if (loops.stride(row, 1) == 1 && loops.size(row) >= 16) return row;
  return -1;
}

TERN_NOINLINE void run_transpose(int ordinal, const Array& out, const Array& in, const detail::LoopNest& loops,
                                 int row) {
  const int column = loops.depth() - 1;
  detail::LoopNest matrices(2);
  for (int d = 0; d < column; ++d)
    if (d != row) matrices.append(loops.size(d), loops.strides(d));
  const Index rows = loops.size(row), columns = loops.size(column), row_tiles = (columns + 31) / 32,
              tiles = (rows + 31) / 32 * row_tiles;
  launch_typed(ordinal, transpose_kernel, {out.dtype}, {matrices.count() * tiles},
               {.out = out.data,
                .in = in.data,
                .rows = rows,
                .columns = columns,
                .row_tiles = row_tiles,
                .tiles = tiles,
                .out_row = loops.stride(row, 0),
                .in_column = loops.stride(column, 1),
                .matrices = copy_loops(matrices)});
}

}  // namespace cuda_kernels

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const Copy& op) {
  using namespace cuda_kernels;
  Array out = op.out, in = op.in;
  out.dtype = in.dtype = carrier(detail::size_of(out.dtype));
  const Array* const from = &in;
  const int ordinal = common_ordinal(out, &from, 1);
  if (out.numel == 0) return;
  const Elementwise elementwise(out, &from, 1);
  const detail::LoopNest& loops = elementwise.loops();
  const int inner = loops.depth() - 1;
  if (out.numel == 1 || (inner == 0 && loops.stride(0, 0) == 1 && loops.stride(0, 1) == 1))
    return cuda::detail::start_copy_on_device(ordinal, out.data, in.data, bytes_of(out));
  if (const int row = transposed_row(loops); row >= 0) return run_transpose(ordinal, out, in, loops, row);
  const KernelParameters parameters = elementwise.parameters();
  cuda::launch(ordinal, mix(copy_key, elementwise.key()), "copy", elementwise.grid(), parameters.data(),
               [&] { return elementwise.source("copy", parameters, "", "x0"); });
}

}}}  // namespace tern::detail::backend
