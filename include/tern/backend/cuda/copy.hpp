// Copies between any strides, as elements of 1, 2, 4 or 8 bytes, whatever the type; and equidistant numbers.
#pragma once
#include "../../device/cuda/copy.hpp"
#include "../copy.hpp"
#include "codegen/elementwise.hpp"
#include "codegen/parameters.hpp"

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

// T1 is what the numbers are calculated in: double, or the integer itself.
TERN_KERNEL_STRUCT(RangeParameters, Index count; Pointer<T0> out; KernelNumber<T1> start; KernelNumber<T1> step;);
inline constexpr KernelOf<RangeParameters> range_kernel{"range", R"CUDA(
extern "C" __global__ void range(const RangeParameters p) {
  const T1 start = p.start, step = p.step;
  for (Index i = first_thread(); i < p.count; i += all_threads())
    p.out[i] = Element<T0>::of(C0(add(start, multiply(T1(i), step))));
}
)CUDA"};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const Copy& op);

template <class T>
void kernel(On<Cuda>, Types<>, const FillRange<T>& op) {
  using namespace cuda_kernels;
  const Array& out = op.out;
  if (out.numel == 0) return;
  launch_typed(out.ordinal, range_kernel, {dtype_of<T>, dtype_of<detail::scalar_t<T>>}, grid_for(out.numel),
               {.count = out.numel, .out = out.data, .start = op.start, .step = op.step});
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
