// Batch normalisation, by kernels of our own: cuDNN's plain functions know neither residual nor relu, its extended ones want memory that
// forward reserves for backward, and both keep the parameters of 16-bit networks as floats. A block has up to 32 neighbouring
// channels, and its other threads share the rows of a part. Sums are of parts of the rows first, then of the parts.
#pragma once
#include "../../device/cuda/memory.hpp"
#include "../batch_norm.hpp"
#include "codegen/parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// How rows of channels are shared out to blocks.
TERN_KERNEL_STRUCT(ChannelLayout,
  Index rows;
  Index channels;
  Index part;      // rows
  Index tiles;     // blocks side by side
  Index across;    // channels of a block
);
inline constexpr const char* channels_text = R"CUDA(
struct Column {
  Index channel, channels, part, first, last;  // this thread's rows: first, first + along ... below last
  int line, along;                             // which of the channel's threads it is, and how many those are
  bool exists;                                 // false beside the channels; those threads must reach the barriers too
  __device__ explicit Column(const ChannelLayout& p) : channels(p.channels) {
    const int across = int(p.across), t = threadIdx.x;
    along = 256 / across;
    line = t / across;
    channel = blockIdx.x % p.tiles * Index(across) + t % across;
    part = blockIdx.x / p.tiles;
    first = part * p.part + line;
    last = (part + 1) * p.part < p.rows ? (part + 1) * p.part : p.rows;
    exists = channel < channels;
    if (!exists) last = first;
  }
  __device__ Index at(Index row) const { return row * channels + channel; }
};
// What a block adds up for each channel.
struct Two { C0 a, b; };
inline __device__ Two total(Two* partial, const Column& c, Two mine) {
  const int t = threadIdx.x, across = 256 / c.along;
  partial[t] = mine;
  __syncthreads();
  #pragma unroll 1
  for (int half = c.along / 2; half; half /= 2) {
    const Two other = partial[c.line < half ? t + half * across : t];
    if (c.line < half) partial[t] = Two{partial[t].a + other.a, partial[t].b + other.b};
    __syncthreads();
  }
  const Two sum = partial[t - c.line * across];
  __syncthreads();
  return sum;
}
)CUDA";

// Sums are of differences from the part's first row, so that no digits are lost.
TERN_KERNEL_STRUCT(BatchNormPartsParameters,
  ChannelLayout layout;
  Pointer<const T0> x;
  Pointer<C0> moments;   // for each part the channels' means, then their sums of squares about them
);
inline constexpr KernelOf<BatchNormPartsParameters> batch_norm_parts_kernel{"batch_norm_parts", R"CUDA(
extern "C" __global__ void batch_norm_parts(const BatchNormPartsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const T0* const x = p.x;
  const C0 shift = c.exists ? C0(wide(x[c.at(c.part * p.layout.part)])) : C0(0);
  Two sums{0, 0};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 d = C0(wide(x[c.at(row)])) - shift;
    sums = Two{sums.a + d, multiply_add(d, d, sums.b)};
  }
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  const C0 mean = sums.a / C0(c.last - c.part * p.layout.part);
  C0* const to = p.moments + 2 * c.part * c.channels + c.channel;
  to[0] = shift + mean;
  to[c.channels] = sums.b - sums.a * mean;
}
)CUDA", {ChannelLayout::source, channels_text}};

// The layout's rows are the parts here.
TERN_KERNEL_STRUCT(BatchNormStatisticsParameters,
  ChannelLayout layout;
  Index rows;                 // all
  Index part;                 // rows
  Pointer<const C0> moments;
  Pointer<C0> mean;
  Pointer<C0> scale;
  Pointer<C0> running_mean;   // or null, as is the variance then
  Pointer<C0> running_var;
  double eps;
  double momentum;
);
inline constexpr KernelOf<BatchNormStatisticsParameters> batch_norm_statistics_kernel{"batch_norm_statistics", R"CUDA(
extern "C" __global__ void batch_norm_statistics(const BatchNormStatisticsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const Index rows = p.rows, size = p.part;
  const C0* const means = p.moments + c.channel;
  const C0* const squares = means + c.channels;
  const C0 shift = c.exists ? *means : C0(0), n = C0(rows);
  Two sums{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along)
    sums.a += (means[2 * part * c.channels] - shift) * C0(part + 1 < p.layout.rows ? size : rows - part * size);
  const C0 mean = shift + total(partial, c, sums).a / n;
  sums = Two{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along) {
    const C0 d = means[2 * part * c.channels] - mean;
    const C0 count = C0(part + 1 < p.layout.rows ? size : rows - part * size);
    sums.a += multiply_add(d * d, count, squares[2 * part * c.channels]);
  }
  const C0 sum = total(partial, c, sums).a;
  if (!c.exists || c.line != 0) return;
  const C0 variance = sum > C0(0) ? sum / n : sum == sum ? C0(0) : sum;
  p.mean[c.channel] = mean;
  p.scale[c.channel] = C0(1) / sqrt(variance + C0(p.eps));
  if (!p.running_mean) return;
  const C0 momentum = C0(p.momentum);
  C0* const running[2] = {p.running_mean + c.channel, p.running_var + c.channel};
  *running[0] = (C0(1) - momentum) * *running[0] + momentum * mean;
  *running[1] = (C0(1) - momentum) * *running[1] + momentum * (variance * (n / (n - C0(1))));
}
)CUDA", {ChannelLayout::source, channels_text}};

// What x becomes but for the residual and relu.
TERN_KERNEL_STRUCT(NormalFactors,
  Pointer<const C0> mean;
  Pointer<const C0> scale;
  Pointer<const C0> weight;
  Pointer<const C0> bias;
);
inline constexpr const char* normal_text = R"CUDA(
struct Normal {
  C0 mean, scale, factor, bias;
  __device__ Normal(const NormalFactors& p, const Column& c) {
    const Index i = c.exists ? c.channel : 0;
    mean = p.mean[i];
    scale = p.scale[i];
    bias = p.bias[i];
    set_factor(p.weight[i]);
  }
  __device__ void set_factor(C0 weight) { factor = scale * weight; }
  __device__ C0 operator()(C0 x) const { return multiply_add(x - mean, factor, bias); }
};
)CUDA";

TERN_KERNEL_STRUCT(BatchNormParameters,
  ChannelLayout layout;
  NormalFactors factors;
  Pointer<T0> y;
  Pointer<const T0> x;
  Pointer<const T0> residual;  // or null
  Index relu;
  Index is_variance;           // whether factors.scale is the variance; eps is added to it then
  double eps;
);
inline constexpr KernelOf<BatchNormParameters> batch_norm_kernel{"batch_norm", R"CUDA(
extern "C" __global__ void batch_norm(const BatchNormParameters p) {
  const Column c(p.layout);
  Normal normal(p.factors, c);
  if (p.is_variance) {
    normal.scale = C0(1) / sqrt(normal.scale + C0(p.eps));
    normal.set_factor(p.factors.weight[c.exists ? c.channel : 0]);
  }
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    C0 v = normal(C0(wide(p.x[c.at(row)])));
    if (p.residual) v += C0(wide(p.residual[c.at(row)]));
    p.y[c.at(row)] = Element<T0>::of(p.relu && v < C0(0) ? C0(0) : v);
  }
}
)CUDA", {ChannelLayout::source, channels_text, NormalFactors::source, normal_text}};

// What relu cut off is seen in y, or worked out again from x.
TERN_KERNEL_STRUCT(PassedGradient,
  Pointer<const T0> g;
  Pointer<const T0> x;
  Pointer<const T0> y;  // or null
  Index relu;
);
inline constexpr const char* passed_text = R"CUDA(
inline __device__ C0 passed(const PassedGradient& p, const Normal& normal, Index i, C0 x) {
  const C0 g = C0(wide(p.g[i]));
  if (!p.relu) return g;
  return (p.y ? C0(wide(p.y[i])) : normal(x)) > C0(0) ? g : C0(0);
}
)CUDA";

TERN_KERNEL_STRUCT(BatchNormGradientPartsParameters,
  ChannelLayout layout;
  NormalFactors factors;
  PassedGradient in;
  Pointer<T0> dresidual;  // or null
  Pointer<C0> sums;       // for each part the channels' sums of what relu lets pass of g, then of that times x - mean
);
inline constexpr KernelOf<BatchNormGradientPartsParameters> batch_norm_gradient_parts_kernel{"batch_norm_gradient_parts", R"CUDA(
extern "C" __global__ void batch_norm_gradient_parts(const BatchNormGradientPartsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const Normal normal(p.factors, c);
  Two sums{0, 0};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 x = C0(wide(p.in.x[c.at(row)])), g = passed(p.in, normal, c.at(row), x);
    if (p.dresidual) p.dresidual[c.at(row)] = Element<T0>::of(g);
    sums = Two{sums.a + g, multiply_add(g, x - normal.mean, sums.b)};
  }
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  C0* const to = p.sums + 2 * c.part * c.channels + c.channel;
  to[0] = sums.a;
  to[c.channels] = sums.b;
}
)CUDA", {ChannelLayout::source, channels_text, NormalFactors::source, normal_text, PassedGradient::source, passed_text}};

// The layout's rows are the parts here.
TERN_KERNEL_STRUCT(BatchNormGradientSumsParameters,
  ChannelLayout layout;
  Index rows;               // all
  Pointer<const C0> sums;
  Pointer<const C0> scale;
  Pointer<C0> dweight;      // or null
  Pointer<C0> dbias;        // or null
  Pointer<C0> shares;       // for each channel what its elements' gradients lose, and what they lose for each unit of x - mean
);
inline constexpr KernelOf<BatchNormGradientSumsParameters> batch_norm_gradient_sums_kernel{"batch_norm_gradient_sums", R"CUDA(
extern "C" __global__ void batch_norm_gradient_sums(const BatchNormGradientSumsParameters p) {
  __shared__ Two partial[256];
  const Column c(p.layout);
  const C0* const from = p.sums + c.channel;
  Two sums{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along)
    sums = Two{sums.a + from[2 * part * c.channels], sums.b + from[(2 * part + 1) * c.channels]};
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  const C0 scale = p.scale[c.channel], share = C0(1) / C0(p.rows);
  if (p.dweight) p.dweight[c.channel] = sums.b * scale;
  if (p.dbias) p.dbias[c.channel] = sums.a;
  C0* const to = p.shares + c.channel;
  to[0] = sums.a * share;
  to[c.channels] = sums.b * scale * scale * share;
}
)CUDA", {ChannelLayout::source, channels_text}};

TERN_KERNEL_STRUCT(BatchNormGradientParameters,
  ChannelLayout layout;
  NormalFactors factors;
  PassedGradient in;
  Pointer<T0> dx;
  Pointer<const C0> shares;
);
inline constexpr KernelOf<BatchNormGradientParameters> batch_norm_gradient_kernel{"batch_norm_gradient", R"CUDA(
extern "C" __global__ void batch_norm_gradient(const BatchNormGradientParameters p) {
  const Column c(p.layout);
  const Normal normal(p.factors, c);
  const C0* const shares = p.shares + (c.exists ? c.channel : 0);
  const C0 offset = shares[0], slope = shares[c.channels];
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 x = C0(wide(p.in.x[c.at(row)])), g = passed(p.in, normal, c.at(row), x);
    p.dx[c.at(row)] = Element<T0>::of(normal.factor * (g - offset - (x - normal.mean) * slope));
  }
}
)CUDA", {ChannelLayout::source, channels_text, NormalFactors::source, normal_text, PassedGradient::source, passed_text}};

/// Rows of channels shared out by their numbers alone, and with them the order of every sum.
struct TERN_API ChannelBlocks {
  ChannelLayout layout;
  Index parts;
  ChannelBlocks(Index rows, Index channels);
  /// Sums over the parts: each block has all of them.
  ChannelBlocks over_parts() const;
  template <class P>
  void launch(int ordinal, const KernelOf<P>& kernel, DType type, const std::type_identity_t<P>& parameters) const {
    launch_typed(ordinal, kernel, {type}, {parts * layout.tiles}, parameters);
  }
  std::size_t sums_bytes(const Array& mean) const {
    return std::size_t(2 * parts * layout.channels * size_of(mean.dtype));
  }
};

/// y from a mean, and a scale or a variance. Op is BatchNorm or BatchNormInference.
template <class Op>
void run_normalise(const Op& op, const Array& scale, bool is_variance) {
  const Array* const arrays[] = {&op.x, &op.mean, &scale, &op.weight, &op.bias, op.residual ? op.residual : &op.x};
  const int ordinal = common_ordinal(op.y, arrays, 6);
  const ChannelBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1]);
  blocks.launch(ordinal, batch_norm_kernel, op.x.dtype,
                {.layout = blocks.layout,
                 .factors = {.mean = op.mean.data, .scale = scale.data, .weight = op.weight.data, .bias = op.bias.data},
                 .y = op.y.data,
                 .x = op.x.data,
                 .residual = data_of(op.residual),
                 .relu = op.relu,
                 .is_variance = is_variance,
                 .eps = op.eps});
}

TERN_API void run_statistics(const BatchNorm& op);

TERN_API void run_batch_norm(const BatchNorm& op);

TERN_API void run_batch_norm_inference(const BatchNormInference& op);

TERN_API void run_batch_norm_gradient(const BatchNormGradient& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const BatchNorm& op) {
  cuda_kernels::run_batch_norm(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const BatchNormInference& op) {
  cuda_kernels::run_batch_norm_inference(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const BatchNormGradient& op) {
  cuda_kernels::run_batch_norm_gradient(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "batch_norm.ipp"
#endif
