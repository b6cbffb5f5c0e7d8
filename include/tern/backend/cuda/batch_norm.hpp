// Batch normalisation, by kernels of our own: cuDNN's plain functions know neither residual nor relu, its extended ones want memory that
// forward reserves for backward, and both keep the parameters of 16-bit networks as floats. A block has up to 32 neighbouring
// channels, and its other threads share the rows of a part. Sums are of parts of the rows first, then of the parts.
#pragma once
#include "../../device/cuda/memory.hpp"
#include "../batch_norm.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words 0 to 4: rows, channels, rows of a part, blocks side by side, channels of a block.
inline constexpr const char* channels_text = R"CUDA(
struct Column {
  Index channel, channels, part, first, last;  // this thread's rows: first, first + along ... below last
  int line, along;                             // which of the channel's threads it is, and how many those are
  bool exists;                                 // false beside the channels; those threads must reach the barriers too
  template <class P> __device__ explicit Column(const P& p) : channels(p.index(1)) {
    const int across = int(p.word[4]), t = threadIdx.x;
    along = 256 / across;
    line = t / across;
    channel = blockIdx.x % p.index(3) * Index(across) + t % across;
    part = blockIdx.x / p.index(3);
    first = part * p.index(2) + line;
    last = (part + 1) * p.index(2) < p.index(0) ? (part + 1) * p.index(2) : p.index(0);
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

// Words from 5 on: x, moments: for each part the channels' means, then their sums of squares about them. Sums are of
// differences from the part's first row, so that no digits are lost.
inline constexpr Kernel batch_norm_parts_kernel{"batch_norm_parts",
                                                R"CUDA(
extern "C" __global__ void batch_norm_parts(const Words<7> p) {
  __shared__ Two partial[256];
  const Column c(p);
  const T0* const x = p.pointer<T0>(5);
  const C0 shift = c.exists ? C0(wide(x[c.at(c.part * p.index(2))])) : C0(0);
  Two sums{0, 0};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 d = C0(wide(x[c.at(row)])) - shift;
    sums = Two{sums.a + d, multiply_add(d, d, sums.b)};
  }
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  const C0 mean = sums.a / C0(c.last - c.part * p.index(2));
  C0* const to = p.pointer<C0>(6) + 2 * c.part * c.channels + c.channel;
  to[0] = shift + mean;
  to[c.channels] = sums.b - sums.a * mean;
}
)CUDA",
                                                {channels_text}};

// The rows are the parts here. Words from 5 on: all rows, rows of a part, moments, mean, scale, running mean and
// variance or null, eps, momentum.
inline constexpr Kernel batch_norm_statistics_kernel{"batch_norm_statistics",
                                                     R"CUDA(
extern "C" __global__ void batch_norm_statistics(const Words<14> p) {
  __shared__ Two partial[256];
  const Column c(p);
  const Index rows = p.index(5), size = p.index(6);
  const C0* const means = p.pointer<C0>(7) + c.channel;
  const C0* const squares = means + c.channels;
  const C0 shift = c.exists ? *means : C0(0), n = C0(rows);
  Two sums{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along)
    sums.a += (means[2 * part * c.channels] - shift) * C0(part + 1 < p.index(0) ? size : rows - part * size);
  const C0 mean = shift + total(partial, c, sums).a / n;
  sums = Two{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along) {
    const C0 d = means[2 * part * c.channels] - mean;
    const C0 count = C0(part + 1 < p.index(0) ? size : rows - part * size);
    sums.a += multiply_add(d * d, count, squares[2 * part * c.channels]);
  }
  const C0 sum = total(partial, c, sums).a;
  if (!c.exists || c.line != 0) return;
  const C0 variance = sum > C0(0) ? sum / n : sum == sum ? C0(0) : sum;
  p.pointer<C0>(8)[c.channel] = mean;
  p.pointer<C0>(9)[c.channel] = C0(1) / sqrt(variance + C0(number<double>(p.word[12])));
  if (!p.word[10]) return;
  const C0 momentum = C0(number<double>(p.word[13]));
  C0* const running[2] = {p.pointer<C0>(10) + c.channel, p.pointer<C0>(11) + c.channel};
  *running[0] = (C0(1) - momentum) * *running[0] + momentum * mean;
  *running[1] = (C0(1) - momentum) * *running[1] + momentum * (variance * (n / (n - C0(1))));
}
)CUDA",
                                                     {channels_text}};

// What x becomes but for the residual and relu. Words from `at` on: mean, scale, weight, bias.
inline constexpr const char* normal_text = R"CUDA(
struct Normal {
  C0 mean, scale, factor, bias;
  template <class P> __device__ Normal(const P& p, const Column& c, int at) {
    const Index i = c.exists ? c.channel : 0;
    mean = p.template pointer<C0>(at)[i];
    scale = p.template pointer<C0>(at + 1)[i];
    bias = C0(wide(p.template pointer<T0>(at + 3)[i]));
    set_factor(C0(wide(p.template pointer<T0>(at + 2)[i])));
  }
  __device__ void set_factor(C0 weight) { factor = scale * weight; }
  __device__ C0 operator()(C0 x) const { return multiply_add(x - mean, factor, bias); }
};
)CUDA";

// Words from 5 on: mean, scale (or the variance, with its eps), weight, bias, y, x, residual or null, relu, whether it
// is the variance, eps.
inline constexpr Kernel batch_norm_kernel{"batch_norm",
                                          R"CUDA(
extern "C" __global__ void batch_norm(const Words<15> p) {
  const Column c(p);
  Normal normal(p, c, 5);
  if (p.word[13]) {
    normal.scale = C0(1) / sqrt(normal.scale + C0(number<double>(p.word[14])));
    normal.set_factor(C0(wide(p.pointer<T0>(7)[c.exists ? c.channel : 0])));
  }
  const T0* const residual = p.pointer<T0>(11);
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    C0 v = normal(C0(wide(p.pointer<T0>(10)[c.at(row)])));
    if (residual) v += C0(wide(residual[c.at(row)]));
    p.pointer<T0>(9)[c.at(row)] = Element<T0>::of(p.word[12] && v < C0(0) ? C0(0) : v);
  }
}
)CUDA",
                                          {channels_text, normal_text}};

// Words from 5 on: mean, scale, weight, bias, g, x, y or null, relu. What relu cut off is seen in y, or worked out
// again from x.
inline constexpr const char* passed_text = R"CUDA(
template <class P> inline __device__ C0 passed(const P& p, const Normal& normal, Index i, C0 x) {
  const C0 g = C0(wide(p.template pointer<T0>(9)[i]));
  if (!p.word[12]) return g;
  return (p.word[11] ? C0(wide(p.template pointer<T0>(11)[i])) : normal(x)) > C0(0) ? g : C0(0);
}
)CUDA";

// Words from 13 on: dresidual or null, sums: for each part the channels' sums of what relu lets pass of g, then of that
// times x - mean.
inline constexpr Kernel batch_norm_gradient_parts_kernel{"batch_norm_gradient_parts",
                                                         R"CUDA(
extern "C" __global__ void batch_norm_gradient_parts(const Words<15> p) {
  __shared__ Two partial[256];
  const Column c(p);
  const Normal normal(p, c, 5);
  T0* const dresidual = p.pointer<T0>(13);
  Two sums{0, 0};
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 x = C0(wide(p.pointer<T0>(10)[c.at(row)])), g = passed(p, normal, c.at(row), x);
    if (dresidual) dresidual[c.at(row)] = Element<T0>::of(g);
    sums = Two{sums.a + g, multiply_add(g, x - normal.mean, sums.b)};
  }
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  C0* const to = p.pointer<C0>(14) + 2 * c.part * c.channels + c.channel;
  to[0] = sums.a;
  to[c.channels] = sums.b;
}
)CUDA",
                                                         {channels_text, normal_text, passed_text}};

// The rows are the parts here. Words from 5 on: all rows, sums, scale, dweight or null, dbias or null, shares: for each
// channel what its elements' gradients lose, and what they lose for each unit of x - mean.
inline constexpr Kernel batch_norm_gradient_sums_kernel{"batch_norm_gradient_sums",
                                                        R"CUDA(
extern "C" __global__ void batch_norm_gradient_sums(const Words<11> p) {
  __shared__ Two partial[256];
  const Column c(p);
  const C0* const from = p.pointer<C0>(6) + c.channel;
  Two sums{0, 0};
  #pragma unroll 1
  for (Index part = c.first; part < c.last; part += c.along)
    sums = Two{sums.a + from[2 * part * c.channels], sums.b + from[(2 * part + 1) * c.channels]};
  sums = total(partial, c, sums);
  if (!c.exists || c.line != 0) return;
  const C0 scale = p.pointer<C0>(7)[c.channel], share = C0(1) / C0(p.index(5));
  if (p.word[8]) p.pointer<T0>(8)[c.channel] = Element<T0>::of(sums.b * scale);
  if (p.word[9]) p.pointer<T0>(9)[c.channel] = Element<T0>::of(sums.a);
  C0* const to = p.pointer<C0>(10) + c.channel;
  to[0] = sums.a * share;
  to[c.channels] = sums.b * scale * scale * share;
}
)CUDA",
                                                        {channels_text}};

// Words from 13 on: dx, shares.
inline constexpr Kernel batch_norm_gradient_kernel{"batch_norm_gradient",
                                                   R"CUDA(
extern "C" __global__ void batch_norm_gradient(const Words<15> p) {
  const Column c(p);
  const Normal normal(p, c, 5);
  const C0* const shares = p.pointer<C0>(14) + (c.exists ? c.channel : 0);
  const C0 offset = shares[0], slope = shares[c.channels];
  #pragma unroll 2
  for (Index row = c.first; row < c.last; row += c.along) {
    const C0 x = C0(wide(p.pointer<T0>(10)[c.at(row)])), g = passed(p, normal, c.at(row), x);
    p.pointer<T0>(13)[c.at(row)] = Element<T0>::of(normal.factor * (g - offset - (x - normal.mean) * slope));
  }
}
)CUDA",
                                                   {channels_text, normal_text, passed_text}};

/// How rows of channels are shared out to blocks: by their numbers alone, and with them the order of every sum.
struct TERN_API ChannelBlocks {
  Index rows, channels, across, tiles, part, parts;
  ChannelBlocks(Index row_count, Index channel_count);
  /// Sums over the parts: each block has all of them.
  ChannelBlocks over_parts() const;
  Words words() const {
    Words words;
    for (const Index word : {rows, channels, part, tiles, across}) words.add(word);
    return words;
  }
  void launch(int ordinal, const Kernel& kernel, DType type, const Words& words) const {
    launch_typed(ordinal, kernel, {type}, {parts * tiles}, words);
  }
  std::size_t sums_bytes(const Array& mean) const {
    return std::size_t(2 * parts * channels * size_of(mean.dtype));
  }
};

/// y from a mean, and a scale or a variance. Op is BatchNorm or BatchNormInference.
template <class Op>
void run_normalise(const Op& op, const Array& scale, bool is_variance) {
  const Array* const arrays[] = {&op.x, &op.mean, &scale, &op.weight, &op.bias, op.residual ? op.residual : &op.x};
  const int ordinal = common_ordinal(op.y, arrays, 6);
  const ChannelBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1]);
  Words words = blocks.words();
  for (const Array* array : {&op.mean, &scale, &op.weight, &op.bias, &op.y, &op.x}) words.add(array->data);
  words.add(data_of(op.residual));
  words.add(Index(op.relu));
  words.add(Index(is_variance));
  words.add_number(op.eps);
  blocks.launch(ordinal, batch_norm_kernel, op.x.dtype, words);
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
