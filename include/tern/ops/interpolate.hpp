// interpolate: images in another size. Each method is linear along one dimension at a time: position j of the result is
// a weighted sum of a few neighbours of its source position. So along a dimension x is a table, and the result is an
// embedding_bag of its rows.
#pragma once
#include "../core/choice.hpp"
#include "../core/options.hpp"
#include "cat.hpp"
#include "embedding.hpp"
#include "power.hpp"
#include "rounding.hpp"
#include "support/pointwise.hpp"

namespace tern { inline namespace TERN_BUILD {

enum class InterpolateMode : unsigned char { nearest, nearest_exact, linear, bilinear, trilinear, bicubic, area };

namespace detail {
/// One factor for all dimensions, or one for each.
struct ScaleFactors {
  int n = 0;
  double d[3] = {};

  ScaleFactors() {}
  ScaleFactors(double all) : n(1) { d[0] = all; }
  ScaleFactors(std::initializer_list<double> each) {
    if (each.size() > 3) Error::fail("interpolate", {"at most 3 scale factors are needed, not ", Index(each.size())});
    for (double factor : each) d[n++] = factor;
  }
  double operator[](int i) const { return d[n == 1 ? 0 : i]; }
};
}  // namespace detail

struct InterpolateOptions {
  detail::ByName by_name{};
  detail::Shape size{};                 // the result's size: one number for all dimensions, or one for each
  detail::ScaleFactors scale_factor{};  // the alternative to size; exactly one of the two must be given
  detail::Choice<InterpolateMode, "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area">
      mode = InterpolateMode::nearest;
  bool align_corners = false;           // keep the centres of the corner pixels in place instead of their outer edges
  bool recompute_scale_factor = false;  // calculate source positions from the sizes instead of scale_factor
};

namespace detail {

/// Resizing of one dimension from size `in` to size `out`.
struct Resampling {
  Index in, out;
  double factor;  // out / in as given; 0: from the sizes
  /// The distance between the source positions of neighbours.
  double step(bool align_corners) const {
    if (align_corners) return out > 1 ? double(in - 1) / double(out - 1) : 0;
    return factor > 0 ? 1 / factor : double(in) / double(out);
  }
};

TERN_API void check_interpolate(const Array& x, const InterpolateOptions& o, Resampling* each);

/// The nearest source position of every position. It is calculated in float, as PyTorch does.
template <class D, class T>
Tensor<D, Index> nearest_positions(const Tensor<D, T>& x, const Resampling& r, double offset) {
  const float step = r.factor > 0 ? float(1 / r.factor) : float(r.in) / float(r.out);
  const Tensor<D, float> j = add(to_type(arange_like(x, 0, 1, r.out), Type<float>{}), offset);
  return clamp_max(to_type(floor(mul(j, double(step))), Type<Index>{}), r.in - 1);
}

/// For each position of the result, the source positions [out, taps] and their weights.
template <class D, class T>
struct Taps {
  Tensor<D, Index> at;
  Tensor<D, T> weight;
};

/// Two neighbours for linear; four for Keys' cubic with a = -3/4 ("Cubic convolution interpolation for digital image
/// processing", 1981).
template <class D, class T>
Taps<D, T> linear_or_cubic_taps(const Tensor<D, T>& x, const Resampling& r, bool cubic, bool align_corners) {
  const double step = r.step(align_corners);
  const Tensor<D, T> j = to_type(arange_like(x, 0, 1, r.out), Type<T>{});
  Tensor<D, T> source = align_corners ? mul(j, step) : sub(mul(add(j, 0.5), step), 0.5);
  if (!cubic && !align_corners) source = clamp_min(source, 0);
  const Tensor<D, Index> first = unsqueeze(to_type(floor(source), Type<Index>{}), 1);
  const Tensor<D, Index> at = add(first, cubic ? arange_like(x, -1, 1, 4) : arange_like(x, 0, 1, 2));
  const Tensor<D, T> distance = abs(sub(unsqueeze(source, 1), to_type(at, Type<T>{})));
  const auto keys = [](auto d) {
    return where(d <= 1, (1.25 * d - 2.25) * d * d + 1, ((-0.75 * d + 3.75) * d - 6) * d + 3);
  };
  return {clamp(at, Index(0), r.in - 1),
          cubic ? pointwise({"interpolate", CallSite::unknown}, keys, distance) : rsub(distance, 1)};
}

/// All positions that touch [j in / out, (j + 1) in / out), with equal weights. If there are fewer than taps, the last
/// one is repeated and its weight divided; a weight of 0 would make NaN of an infinity.
template <class D, class T>
Taps<D, T> area_taps(const Tensor<D, T>& x, const Resampling& r) {
  const Tensor<D, Index> start = unsqueeze(floor_divide(arange_like(x, 0, r.in, r.out), r.out), 1);
  const Tensor<D, Index> end = unsqueeze(floor_divide(arange_like(x, r.in + r.out - 1, r.in, r.out), r.out), 1);
  const Index count = r.in % r.out == 0 ? r.in / r.out : r.in / r.out + 2;
  const Tensor<D, Index> at = add(start, arange_like(x, 0, 1, count)), last = sub(end, 1);
  const Tensor<D, Index> length = sub(end, start), copies = add(rsub(length, count), 1);
  const Tensor<D, Index> parts = where(lt(at, last), length, mul(length, copies));
  return {minimum(at, last), reciprocal(to_type(parts, Type<T>{}))};
}

template <class D, class T>
Tensor<D, T> resampled(const Tensor<D, T>& x, int d, const Taps<D, T>& taps, CallSite here) {
  const Index out = taps.at.size(0), count = taps.at.size(1);
  const Tensor<D, T> turned = transpose(x, 0, d, here);
  Shape to = turned.shape();
  const Tensor<D, T> table = reshape(turned, {to[0], x.numel() / to[0]}, here);
  to[0] = out;
  const Tensor<D, T> y = reduced_bags({"interpolate", here}, {BagMode::sum, -1}, table, reshape(taps.at, -1),
                                      arange_like(x, 0, count, out + 1), contiguous(reshape(taps.weight, -1)));
  return transpose(reshape(y, to, here), 0, d, here);
}

}  // namespace detail

/// x [N, C, ..] resized in the dimensions after C.
template <Device D, Floating T>
Tensor<D, T> interpolate(const Tensor<D, T>& x, const InterpolateOptions& options, CallSite here = {}) {
  using enum InterpolateMode;
  const CallScope scope({"interpolate", here});
  detail::Resampling each[3];
  detail::check_interpolate(*x.checked("interpolate"), options, each);
  const bool nearest_pixel = options.mode == nearest || options.mode == nearest_exact;
  if constexpr (detail::is_half_v<T>)  // so that sums are rounded once; the nearest pixels are summed in their gradient
    if (!nearest_pixel || detail::records(x))
      return to_type(interpolate(to_type(x, detail::Type<float>{}, here), options, here), detail::Type<T>{}, here);
  Tensor<D, T> y = x;
  for (int d = 2; d < x.dim(); ++d) {
    const detail::Resampling& r = each[d - 2];
    if (nearest_pixel) {
      y = index_select(y, d, detail::nearest_positions(x, r, options.mode == nearest ? 0 : 0.5), here);
    } else if constexpr (!detail::is_half_v<T>) {
      y = detail::resampled(y, d,
                            options.mode == area
                                ? detail::area_taps(x, r)
                                : detail::linear_or_cubic_taps(x, r, options.mode == bicubic, options.align_corners),
                            here);
    }
  }
  return detail::in_order_of(x, y, here);
}
template <Device D, Floating T>
Tensor<D, T> interpolate(const Tensor<D, T>& x, const detail::Positional<detail::Shape>& size, CallSite here = {}) {
  return interpolate(x, {.size = size}, here);
}
template <Device D, Floating T>
Tensor<D, T> interpolate(const Tensor<D, T>& x, const detail::Shape& size, const detail::ScaleFactors& scale_factor,
                         decltype(InterpolateOptions::mode) mode = InterpolateMode::nearest,
                         detail::Positional<bool> align_corners = false, CallSite here = {}) {
  return interpolate(x, {.size = size, .scale_factor = scale_factor, .mode = mode, .align_corners = align_corners},
                     here);
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "interpolate.ipp"
#endif
