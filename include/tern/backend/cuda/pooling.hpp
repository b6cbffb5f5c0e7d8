// Pooling: a thread for each element that is written, neighbours for neighbouring channels. An element's gradient is
// gathered from the windows that hold it, so nothing is added atomically.
#pragma once
#include "../pooling.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// Words: elements written, channels, size of the input's images, of the output's, kernel, stride, padding, dilation
// (three each), adaptive, count_include_pad, divisor; then pointers. T1 is what places are counted in.
inline constexpr const char* pooling_text = R"CUDA(
enum { channels_at = 1, in_at = 2, out_at = 5, kernel_at = 8, stride_at = 11, padding_at = 14, dilation_at = 17 };
enum { adaptive_at = 20, count_pad_at, divisor_at, pointers_at };
template <class P> inline __device__ T1 count(const P& p, int word) { return T1(p.word[word]); }
inline __device__ T1 least(T1 a, T1 b) { return a < b ? a : b; }
// Places first, first + step ... below last of one dimension, and how many elements the divisor counts.
struct Range { T1 first, last, step, counted; };
template <class P> inline __device__ Range window(const P& p, int d, T1 o) {
  const T1 in = count(p, in_at + d), out = count(p, out_at + d), padding = count(p, padding_at + d);
  if (p.word[adaptive_at]) {
    const T1 first = T1(Index(o) * in / out), last = T1((Index(o + 1) * in + out - 1) / out);
    return Range{first, last, 1, last - first};
  }
  const T1 step = count(p, dilation_at + d), begin = o * count(p, stride_at + d) - padding;
  const T1 end = begin + (count(p, kernel_at + d) - 1) * step + 1, last = least(end, in);
  const T1 first = begin < 0 ? begin + (step - 1 - begin) / step * step : begin;
  return Range{first, last, step, p.word[count_pad_at] ? least(end, in + padding) - begin : last - first};
}
// The windows that can hold element i.
template <class P> inline __device__ Range holders(const P& p, int d, T1 i) {
  const T1 in = count(p, in_at + d), out = count(p, out_at + d);
  if (p.word[adaptive_at]) return Range{T1(Index(i) * out / in), T1((Index(i + 1) * out + in - 1) / in), 1, 0};
  const T1 stride = count(p, stride_at + d), at = i + count(p, padding_at + d);
  const T1 beyond = at - (count(p, kernel_at + d) - 1) * count(p, dilation_at + d);
  return Range{beyond > 0 ? (beyond + stride - 1) / stride : T1(0), least(out, at / stride + 1), 1, 0};
}
template <class P> inline __device__ C0 divisor(const P& p, Range z, Range y, Range x) {
  return p.word[divisor_at] ? C0(p.index(divisor_at)) : C0(z.counted) * C0(y.counted) * C0(x.counted);
}
// Element i of images whose sizes are the words from `size` on.
struct Spot {
  T1 z, y, x;
  Index channel, image;
  template <class P> __device__ Spot(const P& p, int size, Index i) {
    T1 rest = T1(i);
    channel = rest % count(p, channels_at);
    rest /= count(p, channels_at);
    x = rest % count(p, size + 2);
    rest /= count(p, size + 2);
    y = rest % count(p, size + 1);
    rest /= count(p, size + 1);
    z = rest % count(p, size);
    image = rest / count(p, size);
  }
};
// Where the spot's channel of its image begins in an array of images of another size, and of a place in it.
template <class P> inline __device__ Index start(const P& p, int size, const Spot& s) {
  return s.image * p.index(size) * p.index(size + 1) * p.index(size + 2) * p.index(channels_at) + s.channel;
}
template <class P> inline __device__ T1 place(const P& p, int size, T1 z, T1 y, T1 x) {
  return (z * count(p, size + 1) + y) * count(p, size + 2) + x;
}
)CUDA";

// Pointers: y, at or null, x.
inline constexpr Kernel max_pool_kernel{"max_pool",
                                        R"CUDA(
extern "C" __global__ void max_pool(const Words<26> p) {
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Spot s(p, out_at, i);
    const Range a = window(p, 0, s.z), b = window(p, 1, s.y), c = window(p, 2, s.x);
    const T0* const x = p.pointer<T0>(pointers_at + 2) + start(p, in_at, s);
    const bool inside = a.first < a.last && b.first < b.last && c.first < c.last;
    C0 best = -C0(1e300 * 1e300);
    T1 chosen = inside ? place(p, in_at, a.first, b.first, c.first) : T1(-1);
    for (T1 z = a.first; z < a.last; z += a.step)
      for (T1 y = b.first; y < b.last; y += b.step)
        for (T1 w = c.first; w < c.last; w += c.step) {
          const T1 here = place(p, in_at, z, y, w);
          const C0 v = C0(wide(x[Index(here) * p.index(channels_at)]));
          if (!(v > best || v != v)) continue;
          best = v;
          chosen = here;
        }
    p.pointer<T0>(pointers_at)[i] = Element<T0>::of(best);
    if (p.word[pointers_at + 1]) p.pointer<int32>(pointers_at + 1)[i] = int32(chosen);
  }
}
)CUDA",
                                        {pooling_text}};

// Pointers: dx, dy, at.
inline constexpr Kernel max_pool_gradient_kernel{"max_pool_gradient",
                                                 R"CUDA(
extern "C" __global__ void max_pool_gradient(const Words<26> p) {
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Spot s(p, in_at, i);
    const Range a = holders(p, 0, s.z), b = holders(p, 1, s.y), c = holders(p, 2, s.x);
    const Index first = start(p, out_at, s);
    const int32 here = int32(place(p, in_at, s.z, s.y, s.x));
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y)
        for (T1 x = c.first; x < c.last; ++x) {
          const Index o = first + Index(place(p, out_at, z, y, x)) * p.index(channels_at);
          if (p.pointer<int32>(pointers_at + 2)[o] == here) sum += C0(wide(p.pointer<T0>(pointers_at + 1)[o]));
        }
    p.pointer<T0>(pointers_at)[i] = Element<T0>::of(sum);
  }
}
)CUDA",
                                                 {pooling_text}};

// Pointers: y, x.
inline constexpr Kernel average_pool_kernel{"average_pool",
                                            R"CUDA(
extern "C" __global__ void average_pool(const Words<25> p) {
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Spot s(p, out_at, i);
    const Range a = window(p, 0, s.z), b = window(p, 1, s.y), c = window(p, 2, s.x);
    const T0* const x = p.pointer<T0>(pointers_at + 1) + start(p, in_at, s);
    const bool inside = a.first < a.last && b.first < b.last && c.first < c.last;
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y) {
        C0 line = 0;
        for (T1 w = c.first; w < c.last; ++w)
          line += C0(wide(x[Index(place(p, in_at, z, y, w)) * p.index(channels_at)]));
        sum += line;
      }
    p.pointer<T0>(pointers_at)[i] = Element<T0>::of(inside ? sum / divisor(p, a, b, c) : C0(0));
  }
}
)CUDA",
                                            {pooling_text}};

// Pointers: dx, dy.
inline constexpr Kernel average_pool_gradient_kernel{"average_pool_gradient",
                                                     R"CUDA(
extern "C" __global__ void average_pool_gradient(const Words<25> p) {
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const Spot s(p, in_at, i);
    const Range a = holders(p, 0, s.z), b = holders(p, 1, s.y), c = holders(p, 2, s.x);
    const T0* const g = p.pointer<T0>(pointers_at + 1) + start(p, out_at, s);
    C0 sum = 0;
    for (T1 z = a.first; z < a.last; ++z)
      for (T1 y = b.first; y < b.last; ++y)
        for (T1 x = c.first; x < c.last; ++x)
          sum += C0(wide(g[Index(place(p, out_at, z, y, x)) * p.index(channels_at)])) /
                 divisor(p, window(p, 0, z), window(p, 1, y), window(p, 2, x));
    p.pointer<T0>(pointers_at)[i] = Element<T0>::of(sum);
  }
}
)CUDA",
                                                     {pooling_text}};

/// Launches a kernel that writes arrays[0].
TERN_API void run_pooling(const Kernel& kernel, const PoolParams& p, const Array& x, const Array& y,
                          std::initializer_list<const Array*> arrays);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const MaxPool& op) {
  cuda_kernels::run_pooling(cuda_kernels::max_pool_kernel, op.params, op.x, op.y, {&op.y, op.at, &op.x});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const MaxPoolGradient& op) {
  cuda_kernels::run_pooling(cuda_kernels::max_pool_gradient_kernel, op.params, op.dx, op.dy, {&op.dx, &op.dy, &op.at});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const AveragePool& op) {
  cuda_kernels::run_pooling(cuda_kernels::average_pool_kernel, op.params, op.x, op.y, {&op.y, &op.x});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const AveragePoolGradient& op) {
  cuda_kernels::run_pooling(cuda_kernels::average_pool_gradient_kernel, op.params, op.dx, op.dy, {&op.dx, &op.dy});
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "pooling.ipp"
#endif
