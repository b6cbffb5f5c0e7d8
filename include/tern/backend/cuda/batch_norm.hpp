// Batch normalisation, by kernels of our own: cuDNN's plain functions know neither residual nor relu, its extended ones
// want memory that forward reserves for backward, and both keep the parameters of 16-bit networks as floats.
// Activations are rows, channels their columns.
#pragma once
#include "../../device/cuda/memory.hpp"
#include "../batch_norm.hpp"
#include "codegen/columns.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// Sums are of differences from the part's first row, so that no digits are lost.
TERN_KERNEL_STRUCT(BatchNormPartsParameters,
                   ColumnLayout layout;
                   Pointer<const T0> x;
                   Pointer<C0> moments;  // for each part the channels' means, then their sums of squares about them
);
inline constexpr PackedKernel<BatchNormPartsParameters> batch_norm_parts_kernel{
    "batch_norm_parts",
    R"CUDA(
extern "C" __global__ void batch_norm_parts(const BatchNormPartsParameters p) {
  __shared__ Sums partial[256];
  const Column c(p.layout);
  const T0* const x = p.x;
  const auto start = load(x + c.place(c.part * p.layout.part));
  Sums sums{};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const auto v = load(x + c.place(row));
    for (int e = 0; e < vector; ++e) {
      const C0 d = C0(promote(v.at[e])) - C0(promote(start.at[e]));
      sums.of[e] = Two{sums.of[e].a + d, multiply_add(d, d, sums.of[e].b)};
    }
  }
  sums = c.total(partial, sums);
  if (!c.exists || c.at != 0) return;
  const C0 rows = C0(c.last - c.part * p.layout.part);
  C0* const to = p.moments + 2 * c.part * c.columns + c.column;
  for (int e = 0; e < vector; ++e) {
    const C0 mean = sums.of[e].a / rows;
    to[e] = C0(promote(start.at[e])) + mean;
    to[c.columns + e] = sums.of[e].b - sums.of[e].a * mean;
  }
}
)CUDA",
    {team_text, ColumnLayout::source, columns_text}};

// The layout's rows are the parts here.
TERN_KERNEL_STRUCT(BatchNormStatisticsParameters,
                   ColumnLayout layout;
                   Index rows;  // all
                   Index part;  // rows
                   Pointer<const C0> moments; Pointer<C0> mean; Pointer<C0> scale;
                   Pointer<C0> running_mean;  // or null, as is the variance then
                   Pointer<C0> running_var; double eps; double momentum;);
inline constexpr KernelOf<BatchNormStatisticsParameters> batch_norm_statistics_kernel{
    "batch_norm_statistics",
    R"CUDA(
extern "C" __global__ void batch_norm_statistics(const BatchNormStatisticsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const Index rows = p.rows, size = p.part;
  const C0* const means = p.moments + c.column;
  const C0* const squares = means + c.columns;
  const C0 shift = *means, n = C0(rows);
  Two sums{0, 0};
  #pragma unroll 4
  for (Index part = c.first; part < c.last; part += c.along)
    sums.a += (means[2 * part * c.columns] - shift) * C0(part + 1 < p.layout.rows ? size : rows - part * size);
  const C0 mean = shift + c.total(partial, sums).a / n;
  sums = Two{0, 0};
  #pragma unroll 4
  for (Index part = c.first; part < c.last; part += c.along) {
    const C0 d = means[2 * part * c.columns] - mean;
    const C0 count = C0(part + 1 < p.layout.rows ? size : rows - part * size);
    sums.a += multiply_add(d * d, count, squares[2 * part * c.columns]);
  }
  const C0 sum = c.total(partial, sums).a;
  if (!c.exists || c.at != 0) return;
  const C0 variance = sum > C0(0) ? sum / n : sum == sum ? C0(0) : sum;
  p.mean[c.column] = mean;
  p.scale[c.column] = C0(1) / sqrt(variance + C0(p.eps));
  if (!p.running_mean) return;
  const C0 momentum = C0(p.momentum);
  C0* const running[2] = {p.running_mean + c.column, p.running_var + c.column};
  *running[0] = (C0(1) - momentum) * *running[0] + momentum * mean;
  *running[1] = (C0(1) - momentum) * *running[1] + momentum * (variance * (n / (n - C0(1))));
}
)CUDA",
    {single_elements_text, team_text, ColumnLayout::source, columns_text}};

// What x becomes but for the residual and relu.
TERN_KERNEL_STRUCT(NormalFactors, Pointer<const C0> mean; Pointer<const C0> scale; Pointer<const C0> weight;
                   Pointer<const C0> bias;);
inline constexpr const char* normal_text = R"CUDA(
typedef Pack<C0, vector> Factors;   // a number for each of the thread's channels
struct Normal {
  Factors mean, scale, factor, bias;
  __device__ Normal(const NormalFactors& p, const Column& c)
      : mean(load(p.mean + c.column)), scale(load(p.scale + c.column)), bias(load(p.bias + c.column)) {
    set_factor(load(p.weight + c.column));
  }
  __device__ void set_factor(const Factors& weight) {
    for (int e = 0; e < vector; ++e) factor.at[e] = scale.at[e] * weight.at[e];
  }
  __device__ C0 operator()(int e, C0 x) const { return multiply_add(x - mean.at[e], factor.at[e], bias.at[e]); }
};
)CUDA";

TERN_KERNEL_STRUCT(BatchNormParameters,
                   ColumnLayout layout;
                   NormalFactors factors; Pointer<T0> y; Pointer<const T0> x; Pointer<const T0> residual;  // or null
                   Index relu; Index is_variance;  // whether factors.scale is the variance; eps is added to it then
                   double eps;);
inline constexpr PackedKernel<BatchNormParameters> batch_norm_kernel{
    "batch_norm",
    R"CUDA(
extern "C" __global__ void batch_norm(const BatchNormParameters p) {
  const Column c(p.layout);
  Normal normal(p.factors, c);
  if (p.is_variance) {
    for (int e = 0; e < vector; ++e) normal.scale.at[e] = C0(1) / sqrt(normal.scale.at[e] + C0(p.eps));
    normal.set_factor(load(p.factors.weight + c.column));
  }
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    auto y = load(p.x + c.place(row));
    const auto residual = p.residual ? load(p.residual + c.place(row)) : y;
    for (int e = 0; e < vector; ++e) {
      C0 v = normal(e, C0(promote(y.at[e])));
      if (p.residual) v += C0(promote(residual.at[e]));
      y.at[e] = Element<T0>::of(p.relu && v < C0(0) ? C0(0) : v);
    }
    store(p.y + c.place(row), y);
  }
}
)CUDA",
    {team_text, ColumnLayout::source, columns_text, NormalFactors::source, normal_text}};

// What relu cut off is seen in y, or worked out again from x.
TERN_KERNEL_STRUCT(PassedGradient,
                   Pointer<const T0> g;
                   Pointer<const T0> x; Pointer<const T0> y;  // or null
                   Index relu;);
inline constexpr const char* passed_text = R"CUDA(
typedef Pack<T0, vector> Elements;
inline __device__ Elements passed(const PassedGradient& p, const Normal& normal, Index i, const Elements& x) {
  Elements g = load(p.g + i);
  if (!p.relu) return g;
  const Elements y = p.y ? load(p.y + i) : x;
  for (int e = 0; e < vector; ++e)
    if (!((p.y ? C0(promote(y.at[e])) : normal(e, C0(promote(x.at[e])))) > C0(0))) g.at[e] = Element<T0>::of(C0(0));
  return g;
}
)CUDA";

TERN_KERNEL_STRUCT(
    BatchNormGradientPartsParameters,
    ColumnLayout layout;
    NormalFactors factors; PassedGradient in; Pointer<T0> dresidual;  // or null
    Pointer<C0> sums;  // for each part the channels' sums of what relu lets pass of g, then of that times x - mean
);
inline constexpr PackedKernel<BatchNormGradientPartsParameters> batch_norm_gradient_parts_kernel{
    "batch_norm_gradient_parts",
    R"CUDA(
extern "C" __global__ void batch_norm_gradient_parts(const BatchNormGradientPartsParameters p) {
  __shared__ Sums partial[256];
  const Column c(p.layout);
  const Normal normal(p.factors, c);
  Sums sums{};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const Elements x = load(p.in.x + c.place(row)), g = passed(p.in, normal, c.place(row), x);
    if (p.dresidual) store(p.dresidual + c.place(row), g);
    for (int e = 0; e < vector; ++e) {
      const C0 h = C0(promote(g.at[e])), d = C0(promote(x.at[e])) - normal.mean.at[e];
      sums.of[e] = Two{sums.of[e].a + h, multiply_add(h, d, sums.of[e].b)};
    }
  }
  store_part(c, p.sums, c.total(partial, sums));
}
)CUDA",
    {team_text, ColumnLayout::source, columns_text, NormalFactors::source, normal_text, PassedGradient::source,
     passed_text}};

// The layout's rows are the parts here.
TERN_KERNEL_STRUCT(BatchNormGradientSumsParameters,
                   ColumnLayout layout;
                   Index rows;                                                            // all
                   Pointer<const C0> sums; Pointer<const C0> scale; Pointer<C0> dweight;  // or null
                   Pointer<C0> dbias;                                                     // or null
                   Pointer<C0> shares;  // for each channel what its elements' gradients lose, and what they lose for
                                        // each unit of x - mean
);
inline constexpr KernelOf<BatchNormGradientSumsParameters> batch_norm_gradient_sums_kernel{
    "batch_norm_gradient_sums",
    R"CUDA(
extern "C" __global__ void batch_norm_gradient_sums(const BatchNormGradientSumsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const Two sums = total_of_parts(c, p.sums, partial);
  if (!c.exists || c.at != 0) return;
  const C0 scale = p.scale[c.column], share = C0(1) / C0(p.rows);
  if (p.dweight) p.dweight[c.column] = sums.b * scale;
  if (p.dbias) p.dbias[c.column] = sums.a;
  C0* const to = p.shares + c.column;
  to[0] = sums.a * share;
  to[c.columns] = sums.b * scale * scale * share;
}
)CUDA",
    {single_elements_text, team_text, ColumnLayout::source, columns_text}};

TERN_KERNEL_STRUCT(BatchNormGradientParameters, ColumnLayout layout; NormalFactors factors; PassedGradient in;
                   Pointer<T0> dx; Pointer<const C0> shares;);
inline constexpr PackedKernel<BatchNormGradientParameters> batch_norm_gradient_kernel{
    "batch_norm_gradient",
    R"CUDA(
extern "C" __global__ void batch_norm_gradient(const BatchNormGradientParameters p) {
  const Column c(p.layout);
  const Normal normal(p.factors, c);
  const Factors offset = load(p.shares + c.column), coefficient = load(p.shares + c.columns + c.column);
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const Elements x = load(p.in.x + c.place(row)), g = passed(p.in, normal, c.place(row), x);
    Elements dx;
    for (int e = 0; e < vector; ++e) {
      const C0 rest = C0(promote(g.at[e])) - offset.at[e] - (C0(promote(x.at[e])) - normal.mean.at[e]) * coefficient.at[e];
      dx.at[e] = Element<T0>::of(normal.factor.at[e] * rest);
    }
    store(p.dx + c.place(row), dx);
  }
}
)CUDA",
    {team_text, ColumnLayout::source, columns_text, NormalFactors::source, normal_text, PassedGradient::source,
     passed_text}};

/// y from a mean, and a scale or a variance. Op is BatchNorm or BatchNormInference.
template <class Op>
void run_normalise(const Op& op, const Array& scale, bool is_variance) {
  const Array* const arrays[] = {&op.x, &op.mean, &scale, &op.weight, &op.bias, op.residual ? op.residual : &op.x};
  const int ordinal = common_ordinal(op.y, arrays, 6);
  const ColumnBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1], op.x.dtype);
  blocks.launch(ordinal, batch_norm_kernel, {&op.y, &op.x, op.residual, &op.mean, &scale, &op.weight, &op.bias},
                {.layout = blocks.layout,
                 .factors = {.mean = op.mean.data, .scale = scale.data, .weight = op.weight.data, .bias = op.bias.data},
                 .y = op.y.data,
                 .x = op.x.data,
                 .residual = data_of(op.residual),
                 .relu = op.relu,
                 .is_variance = is_variance,
                 .eps = op.eps});
}

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const BatchNorm& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const BatchNormInference& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const BatchNormGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "batch_norm.ipp"
#endif
