// Copies between any strides, as elements of 1, 2, 4 or 8 bytes, whatever the type.
#pragma once
#include "../../device/cuda/copy.hpp"
#include "../copy.hpp"
#include "codegen/loops.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Copies one element for each position, for any strides.
TERN_KERNEL_STRUCT(StridedCopyParameters,
  Index count;
  Pointer<T0> out;
  Pointer<const T0> in;
  CopyLoops loops;
);
inline constexpr KernelOf<StridedCopyParameters> strided_copy_kernel{"strided_copy", R"CUDA(
template <class T> inline __device__ void copy_strided(const StridedCopyParameters& p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const CopyOffsets at(p.loops, i);
    ((T*)p.out)[at.to] = ((const T*)p.in)[at.from];
  }
}
extern "C" __global__ void strided_copy(const StridedCopyParameters p) {
  if (sizeof(T0) == 1) copy_strided<uint8>(p);
  else if (sizeof(T0) == 2) copy_strided<unsigned short>(p);
  else if (sizeof(T0) == 4) copy_strided<uint32>(p);
  else copy_strided<uint64>(p);
}
)CUDA", {ArrayLoops::source, CopyLoops::source, loops_text}};

// Transposes by tiles of 32 x 32 in shared memory, so that both sides are accessed in runs. A column's stride in out
// and a row's stride in in are 1.
TERN_KERNEL_STRUCT(TransposeParameters,
  Pointer<T0> out;
  Pointer<const T0> in;
  Index rows;
  Index columns;
  Index row_tiles;
  Index out_row;
  Index in_column;
);
inline constexpr KernelOf<TransposeParameters> transpose_kernel{"transpose", R"CUDA(
template <class T> inline __device__ void turn(const TransposeParameters& p, T (*tile)[33]) {
  const Index row = blockIdx.x / p.row_tiles * 32, column = blockIdx.x % p.row_tiles * 32;
  const int x = threadIdx.x % 32;
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + x < p.rows && column + y < p.columns) tile[y][x] = ((const T*)p.in)[row + x + (column + y) * p.in_column];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + y < p.rows && column + x < p.columns) ((T*)p.out)[(row + y) * p.out_row + column + x] = tile[x][y];
}
extern "C" __global__ void transpose(const TransposeParameters p) {
  __shared__ uint64 tile[32 * 33];
  if (sizeof(T0) == 1) turn<uint8>(p, (uint8 (*)[33])tile);
  else if (sizeof(T0) == 2) turn<unsigned short>(p, (unsigned short (*)[33])tile);
  else if (sizeof(T0) == 4) turn<uint32>(p, (uint32 (*)[33])tile);
  else turn<uint64>(p, (uint64 (*)[33])tile);
}
)CUDA"};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const Copy& op);

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
