// Batch normalisation. Statistics and sums are made of chunks of rows, each in one sweep over it.
#pragma once
#include "../batch_norm.hpp"
#include "channels.hpp"
#include "scratch.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

/// The rows of a channels-last array, in chunks that do not depend on the number of threads.
struct NormRows {
  Index channels, rows, chunk, chunks;
  explicit NormRows(const Array& x)
      : channels(x.dims[1]), rows(x.numel / channels), chunk(std::max<Index>(16, parallel_grain / channels)),
        chunks((rows + chunk - 1) / chunk) {}
  Index size(Index i) const { return std::min(chunk, rows - i * chunk); }

  /// f(number of the chunk, its first element, its rows) for each chunk, on all threads.
  template <class F>
  void each(const F& f) const {
    parallel_for(chunks, 1, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) f(i, i * chunk * channels, size(i));
    });
  }
};

/// What x becomes but for the residual and relu: (x - mean) factor + bias.
template <class C>
struct NormFactors {
  const C *mean, *factor, *bias;
  template <class V>
  [[gnu::always_inline]] V operator()(V x, Index c, int lanes) const {
    return multiply_add(x - load_lanes<V>(mean + c, lanes, 0), load_lanes<V>(factor + c, lanes, 0),
                        load_lanes<V>(bias + c, lanes, 0));
  }
};

/// The factors of each channel, mean being x's and scale 1 / sqrt(variance + eps), in room for twice as many numbers.
template <class T, class C>
NormFactors<C> norm_factors(Index channels, C* room, const C* mean, const C* scale, const T* weight, const T* bias) {
  for (Index c = 0; c < channels; ++c) {
    room[c] = scale[c] * C(weight[c]);
    room[channels + c] = C(bias[c]);
  }
  return {mean, room, room + channels};
}

/// A chunk's means, and its sums of squares about them; of differences from its first row, so that no digits are lost.
template <class V, class T, class C>
void chunk_moments(C* mean, C* squares, const T* x, Index rows, Index channels) {
  each_channel_run<V>(channels, [&](Index c, int lanes, auto packets) __attribute__((always_inline)) {
    constexpr int n = decltype(packets)::value;
    V first[n], sum[n], square[n];
    for (int k = 0; k < n; ++k) first[k] = load_lanes<V>(x + c + k * V::size, lanes, 0), sum[k] = square[k] = 0;
    for (Index i = 1; i < rows; ++i)
      for (int k = 0; k < n; ++k) {
        const V d = load_lanes<V>(x + i * channels + c + k * V::size, lanes, 0) - first[k];
        sum[k] += d;
        square[k] = multiply_add(d, d, square[k]);
      }
    const V share(1 / C(rows));
    for (int k = 0; k < n; ++k) {
      store_lanes(mean + c + k * V::size, lanes, multiply_add(sum[k], share, first[k]));
      store_lanes(squares + c + k * V::size, lanes, square[k] - sum[k] * sum[k] * share);
    }
  });
}

/// mean and variance of each channel from those of the chunks (Chan, Golub, LeVeque: Updating formulae and a pairwise
/// algorithm for computing sample variances, 1979).
template <class C>
void merge_moments(const NormRows& r, const C* chunks, double* mean, double* variance) {
  parallel_for(r.channels, parallel_grain / r.chunks + 1, [&](Index first, Index last) {
    std::fill(mean + first, mean + last, 0.);
    std::fill(variance + first, variance + last, 0.);
    double count = 0;
    for (Index i = 0; i < r.chunks; ++i) {
      const double size = double(r.size(i)), share = size / (count + size), weight = count * share;
      const C *const means = chunks + 2 * i * r.channels, *const squares = means + r.channels;
      for (Index c = first; c < last; ++c) {
        const double d = double(means[c]) - mean[c];
        mean[c] += d * share;
        variance[c] += double(squares[c]) + d * d * weight;
      }
      count += size;
    }
    for (Index c = first; c < last; ++c) variance[c] = std::max(variance[c], 0.) / double(r.rows);
  });
}

/// y = (x - mean) factor + bias + residual, and no less than 0 with relu.
template <class T, class C>
void normalise(const NormRows& r, const NormFactors<C>& normal, const Array& y, const Array& x, const Array* residual,
               bool relu) {
  using V = expr::packet_t<T>;
  const V least(relu ? 0 : -__builtin_inf());
  r.each([&](Index, Index start, Index rows) {
    for (Index i = start; i < start + rows * r.channels; i += r.channels)
      for (Index c = 0; c < r.channels; c += V::size) {
        const int lanes = int(std::min<Index>(V::size, r.channels - c));
        V v = normal(load_lanes<V>(x.as<const T>() + i + c, lanes, 0), c, lanes);
        if (residual) v += load_lanes<V>(residual->as<const T>() + i + c, lanes, 0);
        store_lanes(y.as<T>() + i + c, lanes, where(v < least, least, v));
      }
  });
}

}  // namespace cpu

/// y = (x - mean) scale weight + bias + residual with x's own statistics, which are also brought into the running ones.
template <class T>
void batch_norm(Cpu, const BatchNorm& b, const Array& y, const Array& mean, const Array& scale,
                const Array* running_mean, const Array* running_var, const Array& x, const Array& weight,
                const Array& bias, const Array* residual) {
  using C = compute_t<T>;
  using V = expr::packet_t<T>;
  const cpu::NormRows r(x);
  const Scratch<C> moments(2 * r.channels * r.chunks);
  const Scratch<double> merged(2 * r.channels);
  r.each([&](Index chunk, Index start, Index rows) {
    C* const to = moments.get() + 2 * chunk * r.channels;
    cpu::chunk_moments<V>(to, to + r.channels, x.as<const T>() + start, rows, r.channels);
  });
  cpu::merge_moments(r, moments.get(), merged.get(), merged.get() + r.channels);
  const double unbiased = double(r.rows) / double(r.rows - 1);
  for (Index c = 0; c < r.channels; ++c) {
    const double m = merged.get()[c], variance = merged.get()[r.channels + c];
    mean.as<C>()[c] = C(m);
    scale.as<C>()[c] = C(1 / std::sqrt(variance + b.eps));
    if (!running_mean) continue;
    C &old_mean = running_mean->as<C>()[c], &old_var = running_var->as<C>()[c];
    old_mean = C((1 - b.momentum) * double(old_mean) + b.momentum * m);
    old_var = C((1 - b.momentum) * double(old_var) + b.momentum * variance * unbiased);
  }
  const Scratch<C> room(2 * r.channels);
  const auto normal =
      cpu::norm_factors(r.channels, room.get(), mean.as<const C>(), scale.as<const C>(), weight.as<const T>(), bias.as<const T>());
  cpu::normalise<T>(r, normal, y, x, residual, b.relu);
}

/// The same y from statistics that are given.
template <class T>
void batch_norm_inference(Cpu, const BatchNorm& b, const Array& y, const Array& x, const Array& mean,
                          const Array& variance, const Array& weight, const Array& bias, const Array* residual) {
  using C = compute_t<T>;
  const cpu::NormRows r(x);
  const Scratch<C> scale(r.channels), room(2 * r.channels);
  for (Index c = 0; c < r.channels; ++c) scale.get()[c] = C(1 / std::sqrt(double(variance.as<C>()[c]) + b.eps));
  const auto normal = cpu::norm_factors(r.channels, room.get(), mean.as<const C>(), static_cast<const C*>(scale.get()),
                                        weight.as<const T>(), bias.as<const T>());
  cpu::normalise<T>(r, normal, y, x, residual, b.relu);
}

/// The gradients from y's gradient g. Where relu has cut off is worked out again from x, or read from y if there was a residual.
template <class T>
void batch_norm_gradient(Cpu, const BatchNorm& b, const Array* dx, const Array* dweight, const Array* dbias,
                         const Array* dresidual, const Array& g, const Array* y, const Array& x, const Array& mean,
                         const Array& scale, const Array& weight, const Array& bias) {
  using C = compute_t<T>;
  using V = expr::packet_t<T>;
  const cpu::NormRows r(x);
  const Index channels = r.channels;
  const Scratch<C> room(5 * channels), sums(2 * channels * r.chunks);
  const auto normal =
      cpu::norm_factors(channels, room.get(), mean.as<const C>(), scale.as<const C>(), weight.as<const T>(), bias.as<const T>());
  const T *const from = x.as<const T>(), *const result = b.relu && b.added ? y->as<const T>() : nullptr;
  const bool by_input = b.relu && !b.added;
  const auto counted = [&](V h, V v, Index i, Index c, int lanes) __attribute__((always_inline)) {
    if (by_input) return where(normal(v, c, lanes) > V(0), h, V(0));
    if (result) return where(cpu::load_lanes<V>(result + i, lanes, 0) > V(0), h, V(0));
    return h;
  };
  r.each([&](Index chunk, Index start, Index rows) {
    C* const to = sums.get() + 2 * chunk * channels;
    cpu::each_channel_run<V>(channels, [&](Index c, int lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      V sum[n], product[n], centre[n];
      for (int k = 0; k < n; ++k) sum[k] = product[k] = 0, centre[k] = cpu::load_lanes<V>(normal.mean + c + k * V::size, lanes, 0);
      for (Index i = start + c; i < start + c + rows * channels; i += channels)
        for (int k = 0; k < n; ++k) {
          const Index at = i + k * V::size;
          const V v = cpu::load_lanes<V>(from + at, lanes, 0);
          const V h = counted(cpu::load_lanes<V>(g.as<const T>() + at, lanes, 0), v, at, c + k * V::size, lanes);
          if (dresidual) cpu::store_lanes(dresidual->as<T>() + at, lanes, h);
          sum[k] += h;
          product[k] = multiply_add(h, v - centre[k], product[k]);
        }
      for (int k = 0; k < n; ++k) {
        cpu::store_lanes(to + c + k * V::size, lanes, sum[k]);
        cpu::store_lanes(to + channels + c + k * V::size, lanes, product[k]);
      }
    });
  });
  // dx = factor (g - sum / n - (x - mean) scale^2 product / n).
  C *const offset = room.get() + 2 * channels, *const slope = offset + channels;
  for (Index c = 0; c < channels; ++c) {
    double sum = 0, product = 0;
    for (Index i = 0; i < r.chunks; ++i) {
      sum += double(sums.get()[2 * i * channels + c]);
      product += double(sums.get()[(2 * i + 1) * channels + c]);
    }
    const double s = double(scale.as<C>()[c]);
    if (dweight) dweight->as<T>()[c] = T(C(product * s));
    if (dbias) dbias->as<T>()[c] = T(C(sum));
    offset[c] = C(sum / double(r.rows));
    slope[c] = C(product * s * s / double(r.rows));
  }
  if (!dx) return;
  const T* const passed = dresidual ? dresidual->as<const T>() : g.as<const T>();
  r.each([&](Index, Index start, Index rows) {
    for (Index i = start; i < start + rows * channels; i += channels)
      for (Index c = 0; c < channels; c += V::size) {
        const int lanes = int(std::min<Index>(V::size, channels - c));
        const V v = cpu::load_lanes<V>(from + i + c, lanes, 0);
        V h = cpu::load_lanes<V>(passed + i + c, lanes, 0);
        if (!dresidual) h = counted(h, v, i + c, c, lanes);
        const V along = (v - cpu::load_lanes<V>(normal.mean + c, lanes, 0)) * cpu::load_lanes<V>(slope + c, lanes, 0);
        cpu::store_lanes(dx->as<T>() + i + c, lanes,
                         cpu::load_lanes<V>(normal.factor + c, lanes, 0) * (h - cpu::load_lanes<V>(offset + c, lanes, 0) - along));
      }
  });
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
