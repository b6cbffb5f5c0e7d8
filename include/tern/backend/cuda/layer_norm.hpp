// Layer normalisation. The gradients of weight and bias are sums over rows: first of parts of them, then of the parts.
#pragma once
#include "../layer_norm.hpp"
#include "../../device/cuda/memory.hpp"
#include "codegen/row_pieces.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(LayerNormParameters,
  PiecesLayout rows;
  Pointer<const T0> x;
  Pointer<const C0> weight;
  Pointer<const C0> bias;
  Pointer<T0> y;
  Pointer<C0> mean;
  Pointer<C0> scale;
  double eps;
);
inline constexpr PackedKernel<LayerNormParameters> layer_norm_kernel{"layer_norm", R"CUDA(
extern "C" __global__ void layer_norm(const LayerNormParameters p) {
  __shared__ C0 partial[256];
  RowPieces row(p.rows);
  Rows x(p.x);
  Columns weight(p.weight), bias(p.bias);
  const C0 n = C0(p.rows.n);
  C0 sum = 0, squares = 0;
  row.each([&](Index, C0 v) { sum += v; }, x);
  const C0 mean = row.total(partial, sum) / n;
  row.each([&](Index, C0 v) { squares += (v - mean) * (v - mean); }, x);
  const C0 scale = C0(1) / sqrt(row.total(partial, squares) / n + C0(p.eps));
  row.write(p.y, [&](Index, C0 v, C0 w, C0 b) { return multiply_add((v - mean) * scale, w, b); }, x, weight, bias);
  if (!row.exists || row.at != 0) return;
  p.mean[row.which] = mean;
  p.scale[row.which] = scale;
}
)CUDA", {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text}};

TERN_KERNEL_STRUCT(LayerNormGradientParameters,
  PiecesLayout rows;
  Pointer<const T0> x;
  Pointer<const C0> weight;
  Pointer<const T0> g;
  Pointer<const C0> mean;
  Pointer<const C0> scale;
  Pointer<T0> dx;
);
inline constexpr PackedKernel<LayerNormGradientParameters> layer_norm_gradient_kernel{"layer_norm_gradient", R"CUDA(
struct Slopes { C0 sum, product; };
inline __device__ Slopes operator+(Slopes a, Slopes b) { return Slopes{a.sum + b.sum, a.product + b.product}; }
extern "C" __global__ void layer_norm_gradient(const LayerNormGradientParameters p) {
  __shared__ Slopes partial[256];
  RowPieces row(p.rows);
  Rows x(p.x), g(p.g);
  Columns weight(p.weight);
  const C0 mean = row.exists ? p.mean[row.which] : C0(0);
  const C0 scale = row.exists ? p.scale[row.which] : C0(0);
  Slopes all{0, 0};
  row.each([&](Index, C0 v, C0 h, C0 w) { all = all + Slopes{h * w, h * w * ((v - mean) * scale)}; }, x, g, weight);
  all = row.total(partial, all);
  const C0 share = C0(1) / C0(p.rows.n), sum = all.sum * share, product = all.product * share;
  row.write(p.dx, [&](Index, C0 v, C0 h, C0 w) { return scale * (h * w - sum - (v - mean) * scale * product); }, x, g, weight);
}
)CUDA", {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text}};

// A block sums 32 columns over a part of the rows, 8 rows at a time.
TERN_KERNEL_STRUCT(LayerNormPartsParameters,
  Index rows;
  Index n;
  Index part;              // rows
  Index tiles;             // blocks side by side
  Pointer<const T0> g;
  Pointer<const T0> x;
  Pointer<const C0> mean;
  Pointer<const C0> scale;
  Pointer<C0> sums;        // for each part n sums of g x' and n of g, where x' is x normalised
);
inline constexpr KernelOf<LayerNormPartsParameters> layer_norm_parts_kernel{"layer_norm_parts", R"CUDA(
extern "C" __global__ void layer_norm_parts(const LayerNormPartsParameters p) {
  __shared__ C0 partial[2][8][32];
  const int line = threadIdx.x / 32, x = threadIdx.x % 32;
  const Index n = p.n, part = blockIdx.x / p.tiles, column = blockIdx.x % p.tiles * 32 + x;
  const Index last = (part + 1) * p.part < p.rows ? (part + 1) * p.part : p.rows;
  C0 weight = 0, bias = 0;
  #pragma unroll 1
  for (Index row = part * p.part + line; row < last && column < n; row += 8) {
    const C0 g = C0(wide(p.g[row * n + column]));
    const C0 normal = (C0(wide(p.x[row * n + column])) - p.mean[row]) * p.scale[row];
    weight += g * normal;
    bias += g;
  }
  partial[0][line][x] = weight;
  partial[1][line][x] = bias;
  __syncthreads();
  if (line > 1 || column >= n) return;
  C0 sum = 0;
  for (int k = 0; k < 8; ++k) sum += partial[line][k][x];
  p.sums[(2 * part + line) * n + column] = sum;
}
)CUDA"};

TERN_KERNEL_STRUCT(LayerNormColumnsParameters,
  Index n;
  Index parts;
  Pointer<const C0> sums;
  Pointer<C0> dweight;  // or null
  Pointer<C0> dbias;    // or null
);
inline constexpr KernelOf<LayerNormColumnsParameters> layer_norm_columns_kernel{"layer_norm_columns", R"CUDA(
extern "C" __global__ void layer_norm_columns(const LayerNormColumnsParameters p) {
  const Index n = p.n;
  #pragma unroll 1
  for (Index i = first_thread(); i < 2 * n; i += all_threads()) {
    C0* const out = i < n ? p.dweight : p.dbias;
    if (!out) continue;
    C0 sum = 0;
    #pragma unroll 1
    for (Index part = 0; part < p.parts; ++part) sum += p.sums[2 * n * part + i];
    out[i % n] = sum;
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
