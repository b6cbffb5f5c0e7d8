// Layer normalisation. The gradients of weight and bias are sums over rows: first of parts of them, then of the parts.
#pragma once
#include "../layer_norm.hpp"
#include "../../device/cuda/memory.hpp"
#include "codegen/columns.hpp"
#include "codegen/row_pieces.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(LayerNormParameters, PiecesLayout rows; Pointer<const T0> x; Pointer<const C0> weight;
                   Pointer<const C0> bias; Pointer<T0> y; Pointer<C0> mean; Pointer<C0> scale; double eps;);
inline constexpr PackedKernel<LayerNormParameters> layer_norm_kernel{
    "layer_norm",
    R"CUDA(
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
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text}};

TERN_KERNEL_STRUCT(LayerNormGradientParameters, PiecesLayout rows; Pointer<const T0> x; Pointer<const C0> weight;
                   Pointer<const T0> g; Pointer<const C0> mean; Pointer<const C0> scale; Pointer<T0> dx;);
inline constexpr PackedKernel<LayerNormGradientParameters> layer_norm_gradient_kernel{
    "layer_norm_gradient",
    R"CUDA(
struct GradientSums { C0 sum, product; };
inline __device__ GradientSums operator+(GradientSums a, GradientSums b) { return GradientSums{a.sum + b.sum, a.product + b.product}; }
extern "C" __global__ void layer_norm_gradient(const LayerNormGradientParameters p) {
  __shared__ GradientSums partial[256];
  RowPieces row(p.rows);
  Rows x(p.x), g(p.g);
  Columns weight(p.weight);
  const C0 mean = row.exists ? p.mean[row.which] : C0(0);
  const C0 scale = row.exists ? p.scale[row.which] : C0(0);
  GradientSums all{0, 0};
  row.each([&](Index, C0 v, C0 h, C0 w) { all = all + GradientSums{h * w, h * w * ((v - mean) * scale)}; }, x, g, weight);
  all = row.total(partial, all);
  const C0 share = C0(1) / C0(p.rows.n), sum = all.sum * share, product = all.product * share;
  row.write(p.dx, [&](Index, C0 v, C0 h, C0 w) { return scale * (h * w - sum - (v - mean) * scale * product); }, x, g, weight);
}
)CUDA",
    {RowLayout::source, PiecesLayout::source, team_text, row_text, row_pieces_text}};

TERN_KERNEL_STRUCT(LayerNormPartsParameters,
                   ColumnLayout layout;
                   Pointer<const T0> g; Pointer<const T0> x; Pointer<const C0> mean; Pointer<const C0> scale;
                   Pointer<C0> sums;  // for each part n sums of g x' and n of g, where x' is x normalised
);
inline constexpr PackedKernel<LayerNormPartsParameters> layer_norm_parts_kernel{
    "layer_norm_parts",
    R"CUDA(
extern "C" __global__ void layer_norm_parts(const LayerNormPartsParameters p) {
  __shared__ Sums partial[256];
  const Column c(p.layout);
  Sums sums{};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const auto g = load(p.g + c.place(row)), x = load(p.x + c.place(row));
    const C0 mean = p.mean[row], scale = p.scale[row];
    for (int e = 0; e < vector; ++e) {
      const C0 gradient = C0(promote(g.at[e])), normal = (C0(promote(x.at[e])) - mean) * scale;
      sums.of[e] = Two{multiply_add(gradient, normal, sums.of[e].a), sums.of[e].b + gradient};
    }
  }
  store_part(c, p.sums, c.total(partial, sums));
}
)CUDA",
    {team_text, ColumnLayout::source, columns_text}};

// The layout's rows are the parts here.
TERN_KERNEL_STRUCT(LayerNormColumnsParameters,
                   ColumnLayout layout;
                   Pointer<const C0> sums; Pointer<C0> dweight;  // or null
                   Pointer<C0> dbias;                            // or null
);
inline constexpr KernelOf<LayerNormColumnsParameters> layer_norm_columns_kernel{
    "layer_norm_columns",
    R"CUDA(
extern "C" __global__ void layer_norm_columns(const LayerNormColumnsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const Two sums = total_of_parts(c, p.sums, partial);
  if (!c.exists || c.at != 0) return;
  if (p.dweight) p.dweight[c.column] = sums.a;
  if (p.dbias) p.dbias[c.column] = sums.b;
}
)CUDA",
    {single_elements_text, team_text, ColumnLayout::source, columns_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const LayerNorm& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const LayerNormGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "layer_norm.ipp"
#endif
