// Convolution by matrix products: each output pixel's window becomes a row ("im2col"), and the rows are multiplied by
// the weights. It serves element types for which oneDNN has no convolution, and sizes for which its kernel is slow.
#pragma once
#include <algorithm>

#include "../../convolution.hpp"
#include "../loops/workspace.hpp"
#include "../matmul/matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace cpu_kernels {

/// True if each window is the pixel at the output's own position.
inline bool is_pointwise(const Convolution& a) {
  for (int i = 0; i < a.params.dims; ++i)
    if (a.weight.dims[2 + i] != 1 || a.params.stride[i] != 1 || a.params.padding[i] != 0) return false;
  return true;
}

/// A convolution's windows. For missing dimensions, sizes and strides are 1.
struct ConvolutionWindows : Convolution {
  Index in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  const bool pointwise;

  explicit ConvolutionWindows(const Convolution& a) : Convolution(a), pointwise(is_pointwise(a)) {
    for (int i = 0; i < params.dims; ++i) in[i] = x.dims[2 + i], out[i] = y.dims[2 + i], kernel[i] = weight.dims[2 + i];
    for (int i = params.dims; i < 3; ++i) params.stride[i] = params.dilation[i] = 1, params.padding[i] = 0;
  }
  Index images() const { return x.dims[0]; }
  Index channels() const { return x.dims[1]; }
  Index out_channels() const { return y.dims[1]; }
  Index in_pixels() const { return in[0] * in[1] * in[2]; }
  Index out_pixels() const { return out[0] * out[1] * out[2]; }
  Index group_in() const { return channels() / params.groups; }
  Index group_out() const { return out_channels() / params.groups; }
  /// The number of products that are summed for an output element.
  Index depth() const { return kernel[0] * kernel[1] * kernel[2] * group_in(); }
};

/// How many output pixels' windows are laid out at once.
inline Index rows_at_once(const ConvolutionWindows& a) {
  return a.pointwise ? a.images() * a.out_pixels() : std::max<Index>(1, (Index(1) << 20) / a.depth());
}

/// Calls f(pixel) for each tap of an output pixel's window, in memory order. pixel is the position in the batch's
/// input, or -1 for padding.
template <class F>
void each_tap(const ConvolutionWindows& a, Index pixel, const F& f) {
  Index from[3];
  for (int i = 3; i-- > 0; pixel /= a.out[i]) from[i] = pixel % a.out[i] * a.params.stride[i] - a.params.padding[i];
  Index at[3], tap[3];
  for (tap[0] = 0; tap[0] < a.kernel[0]; ++tap[0])
    for (tap[1] = 0; tap[1] < a.kernel[1]; ++tap[1])
      for (tap[2] = 0; tap[2] < a.kernel[2]; ++tap[2]) {
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
          at[i] = from[i] + tap[i] * a.params.dilation[i];
          inside = inside && at[i] >= 0 && at[i] < a.in[i];
        }
        f(inside ? ((pixel * a.in[0] + at[0]) * a.in[1] + at[1]) * a.in[2] + at[2] : -1);
      }
}

/// The windows of `count` output pixels from `first` on as rows, for one group. Padding is zeros.
template <class T>
[[gnu::noinline]] void gather_windows(const ConvolutionWindows& a, const T* x, Index first, Index count, T* rows) {
  const Index length = a.group_in(), depth = a.depth(), channels = a.channels();
  detail::parallel_for(count, std::max<Index>(1, 16384 / depth), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      T* to = rows + i * depth;
      each_tap(a, first + i, [&](Index pixel) {
        if (pixel < 0) std::fill_n(to, length, T(0));
        else std::copy_n(x + pixel * channels, length, to);
        to += length;
      });
    }
  });
}

/// Windows as rows: those of the last requested run, or x itself if its pixels are the windows.
template <class T>
class WindowRows {
 public:
  WindowRows(const ConvolutionWindows& a, Index pixels)
      : a_(a), copy_(a.pointwise ? 0 : std::min(rows_at_once(a), pixels) * a.depth()) {}
  Index stride() const { return a_.pointwise ? a_.channels() : a_.depth(); }
  const T* run(Index group, Index first, Index count) const {
    const T* const from = a_.x.as<const T>() + group * a_.group_in();
    if (a_.pointwise) return from + first * a_.channels();
    gather_windows(a_, from, first, count, copy_.get());
    return copy_.get();
  }

 private:
  const ConvolutionWindows& a_;
  Workspace<T> copy_;
};

/// The adjoint: adds the rows to the positions of their windows.
template <class T>
[[gnu::noinline]] void scatter_windows(const ConvolutionWindows& a, const T* rows, Index first, Index count, T* x) {
  const Index length = a.group_in(), channels = a.channels();
  for (Index i = 0; i < count; ++i)
    each_tap(a, first + i, [&](Index pixel) {
      T* const to = x + pixel * channels;
      for (Index k = 0; pixel >= 0 && k < length; ++k) to[k] += rows[k];
      rows += length;
    });
}

/// Calls f(group, first pixel, count) for all groups, in runs of at most rows_at_once() pixels from `first` on.
template <class F>
void each_run(const ConvolutionWindows& a, Index first, Index pixels, const F& f) {
  const Index most = rows_at_once(a);
  for (Index group = 0; group < a.params.groups; ++group)
    for (Index at = 0; at < pixels; at += most) f(group, first + at, std::min(most, pixels - at));
}

/// y = rows times weights.
template <class T>
[[gnu::noinline]] void convolve_forward(const ConvolutionWindows& a) {
  const Index depth = a.depth(), all = a.images() * a.out_pixels(), n = a.group_out();
  const WindowRows<T> rows(a, all);
  each_run(a, 0, all, [&](Index group, Index first, Index count) {
    matmul_detail::multiply<T>({.a = {rows.run(group, first, count), count, depth, rows.stride()},
                                .b = {a.weight.as<const T>() + group * n * depth, depth, n, 1, depth},
                                .c = a.y.as<T>() + first * a.out_channels() + group * n,
                                .c_row = a.out_channels(),
                                .bias = a.bias ? a.bias->as<const T>() + group * n : nullptr});
  });
}

/// dx = dy times the weights, row by row, each added to its window's position. An image is one task.
template <class T>
[[gnu::noinline]] void convolve_data_gradient(const ConvolutionWindows& a) {
  const Index depth = a.depth(), pixels = a.out_pixels(), k = a.group_out(), channels = a.channels();
  T* const dx = a.x.as<T>();
  const auto product = [&](Index group, Index first, Index count, T* rows, Index row) {
    matmul_detail::multiply<T>(
        {.a = {a.y.as<const T>() + first * a.out_channels() + group * k, count, k, a.out_channels()},
         .b = {a.weight.as<const T>() + group * k * depth, k, depth, depth},
         .c = rows,
         .c_row = row});
  };
  if (a.pointwise)
    return each_run(a, 0, a.images() * pixels, [&](Index group, Index first, Index count) {
      product(group, first, count, dx + first * channels + group * depth, channels);
    });
  std::fill_n(dx, a.images() * a.in_pixels() * channels, T(0));
  detail::parallel_for(a.images(), 1, [&](Index begin, Index end) {
    const Workspace<T> rows(std::min(rows_at_once(a), pixels) * depth);
    for (Index image = begin; image < end; ++image)
      each_run(a, image * pixels, pixels, [&](Index group, Index first, Index count) {
        product(group, first, count, rows.get(), depth);
        scatter_windows(a, static_cast<const T*>(rows.get()), first, count, dx + group * a.group_in());
      });
  });
}

/// dweight = dyᵀ times the rows.
template <class T>
[[gnu::noinline]] void convolve_weight_gradient(const ConvolutionWindows& a) {
  const Index depth = a.depth(), all = a.images() * a.out_pixels(), m = a.group_out();
  const WindowRows<T> rows(a, all);
  each_run(a, 0, all, [&](Index group, Index first, Index count) {
    matmul_detail::multiply<T>(
        {.a = {a.y.as<const T>() + first * a.out_channels() + group * m, m, count, 1, a.out_channels()},
         .b = {rows.run(group, first, count), count, depth, rows.stride()},
         .c = a.weight.as<T>() + group * m * depth,
         .c_row = depth,
         .accumulate = first > 0});
  });
}

}  // namespace cpu_kernels
}  // namespace detail::backend
}}  // namespace tern
