// Pooling: a thread for each element that is written, neighbours for neighbouring channels. An element's gradient is
// gathered from the windows that hold it, so nothing is added atomically.
#pragma once
#include "../pooling.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// A window's way over three dimensions, and the images that it leads from and to.
TERN_KERNEL_STRUCT(PoolLayout,
                   Index channels;
                   Index in[3];  // size of the images
                   Index out[3]; Index kernel[3]; Index stride[3]; Index padding[3]; Index dilation[3]; Index adaptive;
                   Index count_include_pad; Index divisor;  // or 0
);

// T1 is what places are counted in.
inline constexpr const char* pooling_text = R"CUDA(
inline __device__ T1 least(T1 a, T1 b) { return a < b ? a : b; }
// Places first, first + step ... below last of one dimension, and how many elements the divisor counts.
struct Range { T1 first, last, step, counted; };
inline __device__ Range window(const PoolLayout& p, int d, T1 o) {
  const T1 in = T1(p.in[d]), out = T1(p.out[d]), padding = T1(p.padding[d]);
  if (p.adaptive) {
    const T1 first = T1(Index(o) * in / out), last = T1((Index(o + 1) * in + out - 1) / out);
    return Range{first, last, 1, last - first};
  }
  const T1 step = T1(p.dilation[d]), begin = o * T1(p.stride[d]) - padding;
  const T1 end = begin + (T1(p.kernel[d]) - 1) * step + 1, last = least(end, in);
  const T1 first = begin < 0 ? begin + (step - 1 - begin) / step * step : begin;
  return Range{first, last, step, p.count_include_pad ? least(end, in + padding) - begin : last - first};
}
// The windows that can hold element i.
inline __device__ Range holders(const PoolLayout& p, int d, T1 i) {
  const T1 in = T1(p.in[d]), out = T1(p.out[d]);
  if (p.adaptive) return Range{T1(Index(i) * out / in), T1((Index(i + 1) * out + in - 1) / in), 1, 0};
  const T1 stride = T1(p.stride[d]), at = i + T1(p.padding[d]);
  const T1 beyond = at - (T1(p.kernel[d]) - 1) * T1(p.dilation[d]);
  return Range{beyond > 0 ? (beyond + stride - 1) / stride : T1(0), least(out, at / stride + 1), 1, 0};
}
inline __device__ C0 divisor(const PoolLayout& p, Range z, Range y, Range x) {
  return p.divisor ? C0(p.divisor) : C0(z.counted) * C0(y.counted) * C0(x.counted);
}
// Element i of images of that size.
struct Position {
  T1 z, y, x;
  Index channel, image;
  __device__ Position(const PoolLayout& p, const Index* size, Index i) {
    T1 rest = T1(i);
    channel = rest % T1(p.channels);
    rest /= T1(p.channels);
    x = rest % T1(size[2]);
    rest /= T1(size[2]);
    y = rest % T1(size[1]);
    rest /= T1(size[1]);
    z = rest % T1(size[0]);
    image = rest / T1(size[0]);
  }
};
// Where the spot's channel of its image begins in an array of images of another size, and of a place in it.
inline __device__ Index start(const PoolLayout& p, const Index* size, const Position& s) {
  return s.image * size[0] * size[1] * size[2] * p.channels + s.channel;
}
inline __device__ T1 place(const Index* size, T1 z, T1 y, T1 x) { return (z * T1(size[1]) + y) * T1(size[2]) + x; }
)CUDA";

TERN_KERNEL_STRUCT(MaxPoolParameters,
                   PoolLayout layout;
                   Index written;                     // elements
                   Pointer<T0> y; Pointer<int32> at;  // or null
                   Pointer<const T0> x;);
inline constexpr KernelOf<MaxPoolParameters> max_pool_kernel{"max_pool",
                                                             R"CUDA(
extern "C" __global__ void max_pool(const MaxPoolParameters p) {
  const PoolLayout& l = p.layout;
  for (Index i = first_thread(); i < p.written; i += all_threads()) {
    const Position s(l, l.out, i);
    const Range a = window(l, 0, s.z), b = window(l, 1, s.y), c = window(l, 2, s.x);
    const T0* const x = p.x + start(l, l.in, s);
    const bool inside = a.first < a.last && b.first < b.last && c.first < c.last;
    C0 best = -C0(1e300 * 1e300);
    T1 chosen = inside ? place(l.in, a.first, b.first, c.first) : T1(-1);
    for (T1 z = a.first; z < a.last; z += a.step)
      for (T1 y = b.first; y < b.last; y += b.step)
        for (T1 w = c.first; w < c.last; w += c.step) {
          const T1 here = place(l.in, z, y, w);
          const C0 v = C0(promote(x[Index(here) * l.channels]));
          if (!(v > best || v != v)) continue;
          best = v;
          chosen = here;
        }
    p.y[i] = Element<T0>::of(best);
    if (p.at) p.at[i] = int32(chosen);
  }
}
)CUDA",
                                                             {PoolLayout::source, pooling_text}};

TERN_KERNEL_STRUCT(MaxPoolGradientParameters,
                   PoolLayout layout;
                   Index written;  // elements
                   Pointer<T0> dx; Pointer<const T0> dy; Pointer<const int32> at;);
inline constexpr KernelOf<MaxPoolGradientParameters> max_pool_gradient_kernel{"max_pool_gradient",
                                                                              R"CUDA(
extern "C" __global__ void max_pool_gradient(const MaxPoolGradientParameters p) {
  const PoolLayout& l = p.layout;
  for (Index i = first_thread(); i < p.written; i += all_threads()) {
    const Position s(l, l.in, i);
    const Range a = holders(l, 0, s.z), b = holders(l, 1, s.y), c = holders(l, 2, s.x);
    const Index first = start(l, l.out, s);
    const int32 here = int32(place(l.in, s.z, s.y, s.x));
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y)
        for (T1 x = c.first; x < c.last; ++x) {
          const Index o = first + Index(place(l.out, z, y, x)) * l.channels;
          if (p.at[o] == here) sum += C0(promote(p.dy[o]));
        }
    p.dx[i] = Element<T0>::of(sum);
  }
}
)CUDA",
                                                                              {PoolLayout::source, pooling_text}};

TERN_KERNEL_STRUCT(AveragePoolParameters,
                   PoolLayout layout;
                   Index written;  // elements
                   Pointer<T0> y; Pointer<const T0> x;);
inline constexpr KernelOf<AveragePoolParameters> average_pool_kernel{"average_pool",
                                                                     R"CUDA(
extern "C" __global__ void average_pool(const AveragePoolParameters p) {
  const PoolLayout& l = p.layout;
  for (Index i = first_thread(); i < p.written; i += all_threads()) {
    const Position s(l, l.out, i);
    const Range a = window(l, 0, s.z), b = window(l, 1, s.y), c = window(l, 2, s.x);
    const T0* const x = p.x + start(l, l.in, s);
    const bool inside = a.first < a.last && b.first < b.last && c.first < c.last;
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y) {
        C0 line = 0;
        for (T1 w = c.first; w < c.last; ++w)
          line += C0(promote(x[Index(place(l.in, z, y, w)) * l.channels]));
        sum += line;
      }
    p.y[i] = Element<T0>::of(inside ? sum / divisor(l, a, b, c) : C0(0));
  }
}
)CUDA",
                                                                     {PoolLayout::source, pooling_text}};

TERN_KERNEL_STRUCT(AveragePoolGradientParameters,
                   PoolLayout layout;
                   Index written;  // elements
                   Pointer<T0> dx; Pointer<const T0> dy;);
inline constexpr KernelOf<AveragePoolGradientParameters> average_pool_gradient_kernel{
    "average_pool_gradient",
    R"CUDA(
extern "C" __global__ void average_pool_gradient(const AveragePoolGradientParameters p) {
  const PoolLayout& l = p.layout;
  for (Index i = first_thread(); i < p.written; i += all_threads()) {
    const Position s(l, l.in, i);
    const Range a = holders(l, 0, s.z), b = holders(l, 1, s.y), c = holders(l, 2, s.x);
    const T0* const g = p.dy + start(l, l.out, s);
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y)
        for (T1 x = c.first; x < c.last; ++x)
          sum += C0(promote(g[Index(place(l.out, z, y, x)) * l.channels])) /
                 divisor(l, window(l, 0, z), window(l, 1, y), window(l, 2, x));
    p.dx[i] = Element<T0>::of(sum);
  }
}
)CUDA",
    {PoolLayout::source, pooling_text}};

/// Of images x, and y, which windows over them make.
TERN_API PoolLayout pool_layout(const PoolParams& p, const Array& x, const Array& y);

/// The longest step between places of a window, or between windows.
inline Index longest_step(const PoolLayout& p) {
  Index longest = 0;
  for (int d = 0; d < 3; ++d) longest = std::max({longest, p.stride[d], p.padding[d], p.kernel[d] * p.dilation[d]});
  return longest;
}

/// Launches a kernel that writes `written` and reads `read`.
template <class P>
void launch_pooling(const KernelOf<P>& kernel, const Array& written, const Array& read,
                    const std::type_identity_t<P>& parameters) {
  const bool needs_int64 =
      std::max(written.numel, read.numel) > Index(1) << 30 || longest_step(parameters.layout) > Index(1) << 28;
  launch_typed(written.ordinal, kernel, {written.dtype, needs_int64 ? DType::int64 : DType::int32},
               grid_for(written.numel), parameters);
}

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const MaxPool& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const MaxPoolGradient& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const AveragePool& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const AveragePoolGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "pooling.ipp"
#endif
