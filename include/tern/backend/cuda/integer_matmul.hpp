// Products of matrices of integers and bool, which cuBLASLt does not multiply: tiles of 16 x 16 in shared memory, sums
// in 64 bits, which wrap around.
#pragma once
#include "../matmul.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(IntegerFactor,
                   Pointer<const T0> data;
                   Index row;  // strides
                   Index column; Index batch;);
TERN_KERNEL_STRUCT(IntegerMatmulParameters,
                   Index down;  // tiles
                   Index across; Index m; Index n; Index k; IntegerFactor a; IntegerFactor b; Pointer<T0> c;
                   Index row;  // strides of c
                   Index batch; Index accumulate;);
inline constexpr KernelOf<IntegerMatmulParameters> integer_matmul_kernel{"integer_matmul",
                                                                         R"CUDA(
extern "C" __global__ void integer_matmul(const IntegerMatmulParameters p) {
  __shared__ uint64 a[16][17], b[16][17];
  const Index tiles = p.down * p.across, batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const Index m = p.m, n = p.n, k = p.k;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const Index row = tile / p.across * 16 + y, column = tile % p.across * 16 + x;
  const T0* const from_a = p.a.data + batch * p.a.batch;
  const T0* const from_b = p.b.data + batch * p.b.batch;
  uint64 sum = 0;
  for (Index l = 0; l < k; l += 16) {
    a[y][x] = row < m && l + x < k ? uint64(from_a[row * p.a.row + (l + x) * p.a.column]) : 0;
    b[y][x] = column < n && l + y < k ? uint64(from_b[(l + y) * p.b.row + column * p.b.column]) : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  if (row >= m || column >= n) return;
  T0* const c = p.c + batch * p.batch + row * p.row + column;
  *c = Element<T0>::of(Index(p.accumulate ? sum + uint64(*c) : sum));
}
)CUDA",
                                                                         {IntegerFactor::source}};

inline IntegerFactor integer_factor(const Array& a) {
  return {.data = a.data, .row = a.strides[a.ndim - 2], .column = a.strides[a.ndim - 1], .batch = batch_stride(a)};
}

}  // namespace cuda_kernels

template <class T>
  requires(!detail::is_floating_v<T>)
void kernel(On<Cuda>, Types<T>, const MatMul& op) {
  const Array &a = op.a, &b = op.b, &c = op.c;
  const Array* const factors[] = {&a, &b};
  const int ordinal = cuda_kernels::common_ordinal(c, factors, 2);
  const Index m = c.dims[c.ndim - 2], n = c.dims[c.ndim - 1], down = (m + 15) / 16, across = (n + 15) / 16;
  const Index tiles = batch_size(op) * down * across;
  if (tiles == 0) return;
  cuda_kernels::launch_typed(ordinal, cuda_kernels::integer_matmul_kernel, {c.dtype}, {tiles},
                             {.down = down,
                              .across = across,
                              .m = m,
                              .n = n,
                              .k = a.dims[a.ndim - 1],
                              .a = cuda_kernels::integer_factor(a),
                              .b = cuda_kernels::integer_factor(b),
                              .c = c.data,
                              .row = c.strides[c.ndim - 2],
                              .batch = batch_stride(c),
                              .accumulate = op.accumulate});
}

}  // namespace detail::backend
}}  // namespace tern
