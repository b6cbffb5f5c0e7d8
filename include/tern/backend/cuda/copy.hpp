// Copies between any strides: bits of 1, 2, 4 or 8 bytes, whatever the type.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/loop_nest.hpp"
#include "../../device/cuda/copy.hpp"
#include "../copy.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// By position, for any strides.
inline constexpr Kernel strided_copy_kernel{"strided_copy", R"CUDA(
template <class T> inline __device__ void copy_strided(const Words<30>& p) {
  const int dims = int(p.word[3]);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    Index rest = i, to = 0, from = 0;
    #pragma unroll 1
    for (int d = dims; d-- > 0;) {
      const Index size = p.index(4 + 3 * d), j = d ? rest % size : rest;
      rest /= size;
      to += j * p.index(5 + 3 * d);
      from += j * p.index(6 + 3 * d);
    }
    p.pointer<T>(1)[to] = p.pointer<T>(2)[from];
  }
}
extern "C" __global__ void strided_copy(const Words<30> p) {
  if (sizeof(T0) == 1) copy_strided<uint8>(p);
  else if (sizeof(T0) == 2) copy_strided<unsigned short>(p);
  else if (sizeof(T0) == 4) copy_strided<uint32>(p);
  else copy_strided<uint64>(p);
}
)CUDA"};

// Rows on one side, columns on the other, by tiles of 32 x 32 that are turned in shared memory: both sides are read and written in
// runs. word 3 on: rows, columns, the tiles of a row, a row's stride in out (a column's is 1), a column's stride in in (a row's is 1).
inline constexpr Kernel transpose_kernel{"transpose", R"CUDA(
template <class T> inline __device__ void turn(const Words<8>& p, T (*tile)[33]) {
  const Index rows = p.index(3), columns = p.index(4), tiles = p.index(5);
  const Index row = blockIdx.x / tiles * 32, column = blockIdx.x % tiles * 32;
  const int x = threadIdx.x % 32;
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + x < rows && column + y < columns) tile[y][x] = p.pointer<T>(2)[row + x + (column + y) * p.index(7)];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += 8)
    if (row + y < rows && column + x < columns) p.pointer<T>(1)[(row + y) * p.index(6) + column + x] = tile[x][y];
}
extern "C" __global__ void transpose(const Words<8> p) {
  __shared__ uint64 tile[32 * 33];
  if (sizeof(T0) == 1) turn<uint8>(p, (uint8 (*)[33])tile);
  else if (sizeof(T0) == 2) turn<unsigned short>(p, (unsigned short (*)[33])tile);
  else if (sizeof(T0) == 4) turn<uint32>(p, (uint32 (*)[33])tile);
  else turn<uint64>(p, (uint64 (*)[33])tile);
}
)CUDA"};

}  // namespace cuda_kernels

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const Copy& op) {
  const Array &out = op.out, &in = op.in;
  const Array* const arrays[] = {&out, &in};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays + 1, 1);
  if (out.numel == 0) return;
  const LoopNest loops(out.shape(), arrays, 2);
  const int n = loops.depth();
  if (n == 0 || (n == 1 && loops.stride(0, 0) == 1 && loops.stride(0, 1) == 1))
    return cuda::detail::start_on_device(ordinal, out.data, in.data, cuda_kernels::bytes_of(out));
  cuda_kernels::Words words;
  words.add(out.numel);
  words.add(out.data);
  words.add(in.data);
  if (n == 2 && loops.stride(1, 0) == 1 && loops.stride(0, 1) == 1) {
    const Index rows = loops.size(0), columns = loops.size(1), tiles = (columns + 31) / 32;
    for (const Index word : {rows, columns, tiles, loops.stride(0, 0), loops.stride(1, 1)}) words.add(word);
    return cuda_kernels::launch_typed(ordinal, cuda_kernels::transpose_kernel, {out.dtype}, {(rows + 31) / 32 * tiles}, words);
  }
  words.add(Index(n));
  for (int d = 0; d < n; ++d)
    for (const Index word : {loops.size(d), loops.stride(d, 0), loops.stride(d, 1)}) words.add(word);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::strided_copy_kernel, {out.dtype}, cuda_kernels::grid_for(out.numel), words);
}

}  // namespace backend
}  // namespace tern
