// Copies between any strides, as elements of 1, 2, 4 or 8 bytes, whatever the type.
#pragma once
#include "../../device/cuda/copy.hpp"
#include "../copy.hpp"
#include "codegen/elementwise.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Transposes matrices by tiles of 32 x 32 in shared memory, so that both sides are accessed in runs. A column's stride in out
// and a row's stride in in are 1.
TERN_KERNEL_STRUCT(TransposeParameters,
  Pointer<T0> out;
  Pointer<const T0> in;
  Index rows;
  Index columns;
  Index row_tiles;     // tiles side by side in a row of out
  Index tiles;         // of one matrix
  Index out_row;
  Index in_column;
  CopyLoops matrices;
);
inline constexpr KernelOf<TransposeParameters> transpose_kernel{"transpose", R"CUDA(
extern "C" __global__ void transpose(const TransposeParameters p) {
  __shared__ T0 tile[32][33];
  const uint32 matrix = blockIdx.x / uint32(p.tiles), which = blockIdx.x % uint32(p.tiles);
  const CopyOffsets at(p.matrices, matrix);
  T0* const out = p.out + at.to;
  const T0* const in = p.in + at.from;
  const Index row = which / uint32(p.row_tiles) * 32, column = which % uint32(p.row_tiles) * 32;
  const int x = threadIdx.x % 32;
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + x < p.rows && column + y < p.columns) tile[y][x] = in[row + x + (column + y) * p.in_column];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + y < p.rows && column + x < p.columns) out[(row + y) * p.out_row + column + x] = tile[x][y];
}
)CUDA", {ArrayLoops::source, CopyLoops::source, loops_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const Copy& op);

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
