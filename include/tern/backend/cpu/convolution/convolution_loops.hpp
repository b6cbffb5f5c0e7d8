// Convolution by matrix products: each output pixel's window becomes a row ("im2col"), the weights are the other
// factor. For element types that oneDNN has no convolution for, and where its kernel is not worth running.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../convolution.hpp"
#include "../matmul/matmul.hpp"
#include "../loops/scratch.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cpu_kernels {

/// A convolution's sizes, the dimensions that it lacks of size 1.
struct Window {
  Index images, channels, out_channels, groups;
  Index in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  Index stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};

  [[gnu::noinline]] Window(const Convolution& c, const Array& x, const Array& weight, const Array& y)
      : images(x.dims[0]), channels(x.dims[1]), out_channels(y.dims[1]), groups(c.groups) {
    for (int i = 0; i < c.dims; ++i) {
      in[i] = x.dims[2 + i], out[i] = y.dims[2 + i], kernel[i] = weight.dims[2 + i];
      stride[i] = c.stride[i], padding[i] = c.padding[i], dilation[i] = c.dilation[i];
    }
  }
  Index in_pixels() const { return in[0] * in[1] * in[2]; }
  Index out_pixels() const { return out[0] * out[1] * out[2]; }
  Index group_in() const { return channels / groups; }
  Index group_out() const { return out_channels / groups; }
  /// The length of a row: what one output channel is the sum of.
  Index depth() const { return kernel[0] * kernel[1] * kernel[2] * group_in(); }
  /// Whether each output pixel's window is the input's pixel in its place.
  bool pointwise() const {
    for (int i = 0; i < 3; ++i)
      if (kernel[i] != 1 || stride[i] != 1 || padding[i] != 0) return false;
    return true;
  }
  /// Output pixels whose windows are laid out at once.
  Index rows_at_once() const {
    return pointwise() ? images * out_pixels() : std::max<Index>(1, (Index(1) << 20) / depth());
  }

  /// Calls f(pixel) for each tap of an output pixel's window in memory order: which pixel of the batch's input is under
  /// it, or -1.
  template <class F>
  void each_tap(Index pixel, const F& f) const {
    Index from[3];
    for (int i = 3; i-- > 0; pixel /= out[i]) from[i] = pixel % out[i] * stride[i] - padding[i];
    Index at[3], tap[3];
    for (tap[0] = 0; tap[0] < kernel[0]; ++tap[0])
      for (tap[1] = 0; tap[1] < kernel[1]; ++tap[1])
        for (tap[2] = 0; tap[2] < kernel[2]; ++tap[2]) {
          bool inside = true;
          for (int i = 0; i < 3; ++i) {
            at[i] = from[i] + tap[i] * dilation[i];
            inside = inside && at[i] >= 0 && at[i] < in[i];
          }
          f(inside ? ((pixel * in[0] + at[0]) * in[1] + at[1]) * in[2] + at[2] : -1);
        }
  }
};

/// Rows of the windows of `count` output pixels from `first` on, for one group: zeros where they reach over the edge.
template <class T>
[[gnu::noinline]] void gather_windows(const Window& w, const T* x, Index first, Index count, T* rows) {
  const Index length = w.group_in(), depth = w.depth();
  parallel_for(count, std::max<Index>(1, 16384 / depth), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      T* to = rows + i * depth;
      w.each_tap(first + i, [&](Index pixel) {
        if (pixel < 0)
          std::fill_n(to, length, T(0));
        else
          std::copy_n(x + pixel * w.channels, length, to);
        to += length;
      });
    }
  });
}

/// Windows as rows: those of the last run that was asked for, or x itself where its pixels are the windows.
template <class T>
class WindowRows {
 public:
  WindowRows(const Window& w, const T* x, Index pixels)
      : w_(w), x_(x), copy_(w.pointwise() ? 0 : std::min(w.rows_at_once(), pixels) * w.depth()) {}
  Index stride() const { return w_.pointwise() ? w_.channels : w_.depth(); }
  const T* run(Index group, Index first, Index count) const {
    const T* const from = x_ + group * w_.group_in();
    if (w_.pointwise()) return from + first * w_.channels;
    gather_windows(w_, from, first, count, copy_.get());
    return copy_.get();
  }

 private:
  const Window& w_;
  const T* x_;
  Scratch<T> copy_;
};

/// The adjoint: adds the rows to where the windows lie.
template <class T>
[[gnu::noinline]] void scatter_windows(const Window& w, const T* rows, Index first, Index count, T* x) {
  const Index length = w.group_in();
  for (Index i = 0; i < count; ++i)
    w.each_tap(first + i, [&](Index pixel) {
      T* const to = x + pixel * w.channels;
      for (Index k = 0; pixel >= 0 && k < length; ++k) to[k] += rows[k];
      rows += length;
    });
}

/// Calls f(group, first pixel, count) for all groups and runs of at most rows_at_once() of the pixels from `first` on.
template <class F>
void each_run(const Window& w, Index first, Index pixels, const F& f) {
  for (Index group = 0; group < w.groups; ++group)
    for (Index at = 0; at < pixels; at += w.rows_at_once())
      f(group, first + at, std::min(w.rows_at_once(), pixels - at));
}

/// y = the rows times the weights.
template <class T>
[[gnu::noinline]] void convolve(const Window& w, T* y, const T* x, const T* weight, const T* bias) {
  const Index depth = w.depth(), all = w.images * w.out_pixels(), n = w.group_out();
  const WindowRows<T> rows(w, x, all);
  each_run(w, 0, all, [&](Index group, Index first, Index count) {
    backend::matmul(Cpu{}, MatMul<T>{.m = count,
                                     .n = n,
                                     .k = depth,
                                     .a = rows.run(group, first, count),
                                     .a_row = rows.stride(),
                                     .b = weight + group * n * depth,
                                     .b_row = 1,
                                     .b_col = depth,
                                     .c = y + first * w.out_channels + group * n,
                                     .c_row = w.out_channels,
                                     .bias = bias ? bias + group * n : nullptr});
  });
}

/// dx = dy times the weights, row by row, each added to where its window lies. An image is one task.
template <class T>
[[gnu::noinline]] void convolve_data_gradient(const Window& w, T* dx, const T* dy, const T* weight) {
  const Index depth = w.depth(), pixels = w.out_pixels(), k = w.group_out();
  const auto product = [&](Index group, Index first, Index count, T* rows, Index row) {
    backend::matmul(Cpu{}, MatMul<T>{.m = count,
                                     .n = depth,
                                     .k = k,
                                     .a = dy + first * w.out_channels + group * k,
                                     .a_row = w.out_channels,
                                     .b = weight + group * k * depth,
                                     .b_row = depth,
                                     .c = rows,
                                     .c_row = row});
  };
  if (w.pointwise())
    return each_run(w, 0, w.images * pixels, [&](Index group, Index first, Index count) {
      product(group, first, count, dx + first * w.channels + group * depth, w.channels);
    });
  std::fill_n(dx, w.images * w.in_pixels() * w.channels, T(0));
  parallel_for(w.images, 1, [&](Index begin, Index end) {
    const Scratch<T> rows(std::min(w.rows_at_once(), pixels) * depth);
    for (Index image = begin; image < end; ++image)
      each_run(w, image * pixels, pixels, [&](Index group, Index first, Index count) {
        product(group, first, count, rows.get(), depth);
        scatter_windows(w, static_cast<const T*>(rows.get()), first, count, dx + group * w.group_in());
      });
  });
}

/// dweight = dyᵀ times the rows.
template <class T>
[[gnu::noinline]] void convolve_weight_gradient(const Window& w, T* dweight, const T* x, const T* dy) {
  const Index depth = w.depth(), all = w.images * w.out_pixels(), m = w.group_out();
  const WindowRows<T> rows(w, x, all);
  each_run(w, 0, all, [&](Index group, Index first, Index count) {
    backend::matmul(Cpu{}, MatMul<T>{.m = m,
                                     .n = depth,
                                     .k = count,
                                     .a = dy + first * w.out_channels + group * m,
                                     .a_row = 1,
                                     .a_col = w.out_channels,
                                     .b = rows.run(group, first, count),
                                     .b_row = rows.stride(),
                                     .c = dweight + group * m * depth,
                                     .c_row = depth,
                                     .accumulate = first > 0});
  });
}

}  // namespace cpu_kernels
}  // namespace backend
}  // namespace tern
