// Products of matrices of integers and bool, which cuBLASLt does not multiply: tiles of 16 x 16 in shared memory, sums
// in 64 bits, which wrap around.
#pragma once
#include "../matmul.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words: tiles down, tiles across, m, n, k, then pointer, row stride, column stride, batch stride of a and b, pointer,
// row stride, batch stride of c, accumulate.
inline constexpr Kernel integer_matmul_kernel{"integer_matmul", R"CUDA(
extern "C" __global__ void integer_matmul(const Words<17> p) {
  __shared__ uint64 a[16][17], b[16][17];
  const Index tiles = p.index(0) * p.index(1), batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const Index m = p.index(2), n = p.index(3), k = p.index(4);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const Index row = tile / p.index(1) * 16 + y, column = tile % p.index(1) * 16 + x;
  const T0* const from_a = p.pointer<T0>(5) + batch * p.index(8);
  const T0* const from_b = p.pointer<T0>(9) + batch * p.index(12);
  uint64 sum = 0;
  for (Index l = 0; l < k; l += 16) {
    a[y][x] = row < m && l + x < k ? uint64(from_a[row * p.index(6) + (l + x) * p.index(7)]) : 0;
    b[y][x] = column < n && l + y < k ? uint64(from_b[(l + y) * p.index(10) + column * p.index(11)]) : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  if (row >= m || column >= n) return;
  T0* const c = p.pointer<T0>(13) + batch * p.index(15) + row * p.index(14) + column;
  *c = Element<T0>::of(Index(p.word[16] ? sum + uint64(*c) : sum));
}
)CUDA"};

}  // namespace cuda_kernels

template <class T>
  requires(!is_floating_v<T>)
void kernel(On<Cuda>, Types<T>, const MatMul& op) {
  const Array &a = op.a, &b = op.b, &c = op.c;
  const Array* const factors[] = {&a, &b};
  const int ordinal = cuda_kernels::common_ordinal(c, factors, 2);
  const Index m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], down = (m + 15) / 16, across = (n + 15) / 16;
  const Index tiles = batch_size(op) * down * across;
  if (tiles == 0) return;
  cuda_kernels::Words words;
  for (const Index word : {down, across, m, n, a.dims[a.ndim - 1]}) words.add(word);
  for (const Array* const factor : factors) {
    words.add(factor->data);
    for (const Index word : {factor->strides[factor->ndim - 2], factor->strides[factor->ndim - 1], batch_stride(*factor)})
      words.add(word);
  }
  words.add(c.data);
  for (const Index word : {c.strides[c.ndim - 2], batch_stride(c), Index(op.accumulate)}) words.add(word);
  cuda_kernels::launch_typed(ordinal, cuda_kernels::integer_matmul_kernel, {c.dtype}, {tiles}, words);
}

}  // namespace backend
}  // namespace tern
