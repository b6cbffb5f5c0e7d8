// Layer normalisation. The gradients of weight and bias are sums over rows: first of parts of them, then of the parts.
#pragma once
#include "../layer_norm.hpp"
#include "../../device/cuda/memory.hpp"
#include "codegen/row_blocks.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words from 3 on: n, x, weight, bias, y, mean, scale, eps.
inline constexpr Kernel layer_norm_kernel{"layer_norm", R"CUDA(
extern "C" __global__ void layer_norm(const Words<11> p) {
  __shared__ C0 partial[256];
  const Row row(p);
  const Index n = row.exists ? p.index(3) : 0;
  const T0 *const x = p.pointer<T0>(4) + row.which * n;
  const T0 *const weight = p.pointer<T0>(5), *const bias = p.pointer<T0>(6);
  T0* const y = p.pointer<T0>(7) + row.which * n;
  C0 sum = 0, squares = 0;
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) sum += C0(wide(x[i]));
  const C0 mean = row.total(partial, sum) / C0(p.index(3));
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) {
    const C0 d = C0(wide(x[i])) - mean;
    squares += d * d;
  }
  const C0 scale = C0(1) / sqrt(row.total(partial, squares) / C0(p.index(3)) + C0(number<double>(p.word[10])));
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along)
    y[i] = Element<T0>::of(multiply_add((C0(wide(x[i])) - mean) * scale, C0(wide(weight[i])), C0(wide(bias[i]))));
  if (!row.exists || row.at != 0) return;
  p.pointer<C0>(8)[row.which] = mean;
  p.pointer<C0>(9)[row.which] = scale;
}
)CUDA", {row_text}};

// Words from 3 on: n, x, weight, g, mean, scale, dx.
inline constexpr Kernel layer_norm_gradient_kernel{"layer_norm_gradient", R"CUDA(
struct Slopes { C0 sum, product; };
inline __device__ Slopes operator+(Slopes a, Slopes b) { return Slopes{a.sum + b.sum, a.product + b.product}; }
extern "C" __global__ void layer_norm_gradient(const Words<10> p) {
  __shared__ Slopes partial[256];
  const Row row(p);
  const Index n = row.exists ? p.index(3) : 0;
  const T0 *const x = p.pointer<T0>(4) + row.which * n, *const g = p.pointer<T0>(6) + row.which * n;
  const T0* const weight = p.pointer<T0>(5);
  const C0 mean = row.exists ? p.pointer<C0>(7)[row.which] : C0(0);
  const C0 scale = row.exists ? p.pointer<C0>(8)[row.which] : C0(0);
  Slopes all{0, 0};
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) {
    const C0 slope = C0(wide(g[i])) * C0(wide(weight[i]));
    all = all + Slopes{slope, slope * ((C0(wide(x[i])) - mean) * scale)};
  }
  all = row.total(partial, all);
  const C0 share = C0(1) / C0(p.index(3)), sum = all.sum * share, product = all.product * share;
  #pragma unroll 2
  for (Index i = row.at; i < n; i += row.along) {
    const C0 slope = C0(wide(g[i])) * C0(wide(weight[i]));
    const C0 normal = (C0(wide(x[i])) - mean) * scale;
    p.pointer<T0>(9)[row.which * n + i] = Element<T0>::of(scale * (slope - sum - normal * product));
  }
}
)CUDA", {row_text}};

// A block sums 32 columns over a part of the rows, 8 rows at a time. Words: rows, n, rows of a part, blocks side by
// side, g, x, mean, scale, sums: for each part n sums of g x' and n of g, where x' is x normalised.
inline constexpr Kernel layer_norm_parts_kernel{"layer_norm_parts", R"CUDA(
extern "C" __global__ void layer_norm_parts(const Words<9> p) {
  __shared__ C0 partial[2][8][32];
  const Index n = p.index(1), part = blockIdx.x / p.index(3), column = blockIdx.x % p.index(3) * 32 + threadIdx.x % 32;
  const Index last = (part + 1) * p.index(2) < p.index(0) ? (part + 1) * p.index(2) : p.index(0);
  const int line = threadIdx.x / 32, x = threadIdx.x % 32;
  C0 weight = 0, bias = 0;
  #pragma unroll 1
  for (Index row = part * p.index(2) + line; row < last && column < n; row += 8) {
    const C0 g = C0(wide(p.pointer<T0>(4)[row * n + column]));
    const C0 normal = (C0(wide(p.pointer<T0>(5)[row * n + column])) - p.pointer<C0>(6)[row]) * p.pointer<C0>(7)[row];
    weight += g * normal;
    bias += g;
  }
  partial[0][line][x] = weight;
  partial[1][line][x] = bias;
  __syncthreads();
  if (line > 1 || column >= n) return;
  C0 sum = 0;
  for (int k = 0; k < 8; ++k) sum += partial[line][k][x];
  p.pointer<C0>(8)[(2 * part + line) * n + column] = sum;
}
)CUDA"};

// Words: n, parts, sums, dweight or null, dbias or null.
inline constexpr Kernel layer_norm_columns_kernel{"layer_norm_columns", R"CUDA(
extern "C" __global__ void layer_norm_columns(const Words<5> p) {
  const Index n = p.index(0);
  #pragma unroll 1
  for (Index i = first_thread(); i < 2 * n; i += all_threads()) {
    T0* const out = p.pointer<T0>(i < n ? 3 : 4);
    if (!out) continue;
    C0 sum = 0;
    #pragma unroll 1
    for (Index part = 0; part < p.index(1); ++part) sum += p.pointer<C0>(2)[2 * n * part + i];
    out[i % n] = Element<T0>::of(sum);
  }
}
)CUDA"};

TERN_API void run_layer_norm(const LayerNorm& op);

TERN_API void run_layer_norm_gradient(const LayerNormGradient& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const LayerNorm& op) {
  cuda_kernels::run_layer_norm(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const LayerNormGradient& op) {
  cuda_kernels::run_layer_norm_gradient(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "layer_norm.ipp"
#endif
