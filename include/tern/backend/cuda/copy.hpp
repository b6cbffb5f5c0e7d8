// Copies between any strides, as elements of 1, 2, 4 or 8 bytes, whatever the type.
#pragma once
#include "../../device/cuda/copy.hpp"
#include "../copy.hpp"
#include "codegen/elementwise.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// Transposes matrices by tiles of 32 x 32 in shared memory, so that both sides are accessed in runs. A column's stride
// in out and a row's stride in in are 1.
TERN_KERNEL_STRUCT(TransposeParameters,
                   Pointer<T0> out;
                   Pointer<const T0> in; Index rows; Index columns;
                   Index row_tiles;  // tiles side by side in a row of out
                   Index tiles;      // of one matrix
                   Index out_row; Index in_column; CopyLoops matrices;);
inline constexpr KernelOf<TransposeParameters> transpose_kernel{"transpose",
                                                                R"CUDA(
extern "C" __global__ void transpose(const TransposeParameters p) {
  __shared__ T0 tile[32][33];
  const uint32 matrix = blockIdx.x / uint32(p.tiles), which = blockIdx.x % uint32(p.tiles);
  const CopyOffsets at(p.matrices, matrix);
  const Index row = which / uint32(p.row_tiles) * 32, column = which % uint32(p.row_tiles) * 32;
  const int rows = smaller(p.rows - row, Index(32)), columns = smaller(p.columns - column, Index(32));
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const T0* const from = p.in + at.from + row + x + (column + y) * p.in_column;
  T0* const to = p.out + at.to + column + x + (row + y) * p.out_row;
  T0 read[4] = {};   // all are under way before the first is stored
  for (int k = 0; k < 4; ++k)
    if (x < rows && y + 8 * k < columns) read[k] = from[8 * k * p.in_column];
  for (int k = 0; k < 4; ++k) tile[y + 8 * k][x] = read[k];
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    if (x < columns && y + 8 * k < rows) to[8 * k * p.out_row] = tile[x][y + 8 * k];
}
)CUDA",
                                                                {ArrayLoops::source, CopyLoops::source, loops_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const Copy& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
