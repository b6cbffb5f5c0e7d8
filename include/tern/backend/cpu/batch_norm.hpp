// Batch normalisation. Statistics and sums are calculated by chunks of rows, each in one pass.
#pragma once
#include "../batch_norm.hpp"
#include "loops/channels.hpp"
#include "loops/workspace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// The rows of a channels-last array, in chunks that do not depend on the number of threads.
struct NormRows {
  Index channels, rows, chunk, chunks;
  explicit NormRows(const Array& x)
      : channels(x.dims[1]), rows(x.numel / channels), chunk(std::max<Index>(16, parallel_grain / channels)),
        chunks((rows + chunk - 1) / chunk) {}
  Index size(Index i) const { return std::min(chunk, rows - i * chunk); }

  /// Calls f(chunk number, first element, rows) for each chunk, on all threads.
  template <class F>
  void each(const F& f) const {
    detail::parallel_for(chunks, 1, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) f(i, i * chunk * channels, size(i));
    });
  }
};

/// The normalisation of x without residual and relu: (x - mean) factor + bias.
template <class C>
struct NormFactors {
  const C *mean, *factor, *bias;
};

/// The factors for a run of channels.
template <class V, int n>
struct RunFactors {
  ChannelRun<V, n> mean, factor, bias;
  template <class C>
  [[gnu::always_inline]] RunFactors(const NormFactors<C>& all, Index c, int lanes)
      : mean(all.mean + c, lanes), factor(all.factor + c, lanes), bias(all.bias + c, lanes) {}
  [[gnu::always_inline]] V operator()(V x, int k) const { return multiply_add(x - mean[k], factor[k], bias[k]); }
};

/// The factors of each channel, where mean is x's and scale is 1 / sqrt(variance + eps). buffer holds as many numbers
/// as there are channels.
template <class C>
NormFactors<C> norm_factors(Index channels, C* buffer, const C* mean, const C* scale, const C* weight, const C* bias) {
  for (Index c = 0; c < channels; ++c) buffer[c] = scale[c] * weight[c];
  return {mean, buffer, bias};
}

/// Calls f(row, u) for the rows of a chunk. With runs of n packets, it takes 4 / n rows together, u = 0 … 4 / n - 1, so
/// that their calculations are independent.
template <int n, class F>
[[gnu::always_inline]] inline void each_row(Index first, Index rows, const F& f) {
  Index i = first;
  for (; i + 4 / n <= rows; i += 4 / n) {
#pragma GCC unroll 4
    for (int u = 0; u < 4 / n; ++u) f(i + u, u);
  }
  for (; i < rows; ++i) f(i, 0);
}

/// Two sums for each of n packets.
template <class V, int n>
struct PairOfSums {
  V a[n], b[n];
  [[gnu::always_inline]] PairOfSums() {
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) a[k] = b[k] = 0;
  }
  [[gnu::always_inline]] void add(const PairOfSums& other) {
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) a[k] += other.a[k], b[k] += other.b[k];
  }
};

/// The sums that f(row, sums to add to) makes over a chunk's rows.
template <class V, int n, class F>
[[gnu::always_inline]] inline PairOfSums<V, n> sum_rows(Index first, Index rows, const F& f) {
  PairOfSums<V, n> sums[4 / n];
  each_row<n>(first, rows, [&](Index i, int u) __attribute__((always_inline)) { f(i, sums[u]); });
#pragma GCC unroll 4
  for (int u = 1; u < 4 / n; ++u) sums[0].add(sums[u]);
  return sums[0];
}

/// A chunk's means, and its sums of squares about them. They are calculated from differences from the first row, to
/// avoid cancellation.
template <class V, class T, class C>
void chunk_moments(C* mean, C* squares, const T* x, Index rows, Index channels) {
  each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
    constexpr int n = decltype(packets)::value;
    const ChannelRun<V, n> first(x + c, lanes);
    const auto sums = sum_rows<V, n>(1, rows, [&](Index i, PairOfSums<V, n>& to) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int k = 0; k < n; ++k) {
        const V d = load_lanes<V>(x + i * channels + c + k * V::size, lanes, 0) - first[k];
        to.a[k] += d;
        to.b[k] = multiply_add(d, d, to.b[k]);
      }
    });
    const V share(1 / C(rows));
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) {
      store_lanes(mean + c + k * V::size, lanes, multiply_add(sums.a[k], share, first[k]));
      store_lanes(squares + c + k * V::size, lanes, sums.b[k] - sums.a[k] * sums.a[k] * share);
    }
  });
}

/// The mean and variance of each channel from those of the chunks (Chan, Golub, LeVeque: "Updating formulae and a
/// pairwise algorithm for computing sample variances", 1979).
template <class C>
void merge_moments(const NormRows& r, const C* chunks, double* mean, double* variance) {
  detail::parallel_for(r.channels, parallel_grain / r.chunks + 1, [&](Index first, Index last) {
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

/// y = (x - mean) factor + bias + residual; with relu at least 0.
template <class T, class C>
void normalise(const NormRows& r, const NormFactors<C>& normal, const Array& y, const Array& x, const Array* residual,
               bool relu) {
  using V = detail::expr::packet_t<T>;
  const V least(relu ? 0 : -__builtin_inf());
  r.each([&](Index, Index start, Index rows) {
    each_channel_run<V>(r.channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      const RunFactors<V, n> factors(normal, c, lanes);
      each_row<n>(0, rows, [&](Index i, int) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) {
          const Index at = start + i * r.channels + c + k * V::size;
          V v = factors(load_lanes<V>(x.as<const T>() + at, lanes, 0), k);
          if (residual) v += load_lanes<V>(residual->as<const T>() + at, lanes, 0);
          store_lanes(y.as<T>() + at, lanes, where(v < least, least, v));
        }
      });
    });
  });
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const BatchNorm& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  using V = detail::expr::packet_t<T>;
  const NormRows r(op.x);
  const Workspace<C> moments(2 * r.channels * r.chunks);
  const Workspace<double> merged(2 * r.channels);
  r.each([&](Index chunk, Index start, Index rows) {
    C* const to = moments.get() + 2 * chunk * r.channels;
    chunk_moments<V>(to, to + r.channels, op.x.as<const T>() + start, rows, r.channels);
  });
  merge_moments(r, moments.get(), merged.get(), merged.get() + r.channels);
  const double unbiased = double(r.rows) / double(r.rows - 1);
  for (Index c = 0; c < r.channels; ++c) {
    const double m = merged.get()[c], variance = merged.get()[r.channels + c];
    op.mean.as<C>()[c] = C(m);
    op.scale.as<C>()[c] = C(1 / std::sqrt(variance + op.eps));
    if (!op.running_mean) continue;
    C &old_mean = op.running_mean->as<C>()[c], &old_var = op.running_var->as<C>()[c];
    old_mean = C((1 - op.momentum) * double(old_mean) + op.momentum * m);
    old_var = C((1 - op.momentum) * double(old_var) + op.momentum * variance * unbiased);
  }
  const Workspace<C> buffer(r.channels);
  const auto normal = norm_factors(r.channels, buffer.get(), op.mean.as<const C>(), op.scale.as<const C>(),
                                   op.weight.as<const C>(), op.bias.as<const C>());
  normalise<T>(r, normal, op.y, op.x, op.residual, op.relu);
}

template <class T>
void kernel(On<Cpu>, Types<T>, const BatchNormInference& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  const NormRows r(op.x);
  const Workspace<C> scale(r.channels), buffer(r.channels);
  for (Index c = 0; c < r.channels; ++c) scale.get()[c] = C(1 / std::sqrt(double(op.variance.as<C>()[c]) + op.eps));
  const auto normal = norm_factors(r.channels, buffer.get(), op.mean.as<const C>(), static_cast<const C*>(scale.get()),
                                   op.weight.as<const C>(), op.bias.as<const C>());
  normalise<T>(r, normal, op.y, op.x, op.residual, op.relu);
}

template <class T>
void kernel(On<Cpu>, Types<T>, const BatchNormGradient& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  using V = detail::expr::packet_t<T>;
  const NormRows r(op.x);
  const Index channels = r.channels;
  const Workspace<C> buffer(3 * channels), sums(2 * channels * r.chunks);
  const auto normal = norm_factors(channels, buffer.get(), op.mean.as<const C>(), op.scale.as<const C>(),
                                   op.weight.as<const C>(), op.bias.as<const C>());
  const T *const from = op.x.as<const T>(), *const result = op.y ? op.y->as<const T>() : nullptr,
                 *const g = op.g.as<const T>();
  T *const dx = op.dx ? op.dx->as<T>() : nullptr, *const dresidual = op.dresidual ? op.dresidual->as<T>() : nullptr;
  const bool by_input = op.relu && !result;
  const auto counted = [&](V h, V v, const auto& factors, int k, Index at, int lanes) __attribute__((always_inline)) {
    if (by_input) return where(factors(v, k) > V(0), h, V(0));
    if (result) return where(load_lanes<V>(result + at, lanes, 0) > V(0), h, V(0));
    return h;
  };
  r.each([&](Index chunk, Index start, Index rows) {
    C* const to = sums.get() + 2 * chunk * channels;
    each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      using Sums = PairOfSums<V, n>;
      const RunFactors<V, n> factors(normal, c, lanes);
      const Sums all = sum_rows<V, n>(0, rows, [&](Index i, Sums& mine) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) {
          const Index at = start + i * channels + c + k * V::size;
          const V v = load_lanes<V>(from + at, lanes, 0);
          const V h = counted(load_lanes<V>(g + at, lanes, 0), v, factors, k, at, lanes);
          if (dresidual) store_lanes(dresidual + at, lanes, h);
          mine.a[k] += h;
          mine.b[k] = multiply_add(h, v - factors.mean[k], mine.b[k]);
        }
      });
#pragma GCC unroll 4
      for (int k = 0; k < n; ++k) {
        store_lanes(to + c + k * V::size, lanes, all.a[k]);
        store_lanes(to + channels + c + k * V::size, lanes, all.b[k]);
      }
    });
  });
  // dx = factor g - coefficient (x - mean) - offset.
  C *const offset = buffer.get() + channels, *const coefficient = offset + channels;
  for (Index c = 0; c < channels; ++c) {
    double sum = 0, product = 0;
    for (Index i = 0; i < r.chunks; ++i) {
      sum += double(sums.get()[2 * i * channels + c]);
      product += double(sums.get()[(2 * i + 1) * channels + c]);
    }
    const double s = double(op.scale.as<C>()[c]), factor = double(normal.factor[c]) / double(r.rows);
    if (op.dweight) op.dweight->as<C>()[c] = C(product * s);
    if (op.dbias) op.dbias->as<C>()[c] = C(sum);
    offset[c] = C(factor * sum);
    coefficient[c] = C(factor * product * s * s);
  }
  if (!dx) return;
  const T* const passed = dresidual ? dresidual : g;
  r.each([&](Index, Index start, Index rows) {
    each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      const RunFactors<V, n> factors(normal, c, lanes);
      const ChannelRun<V, n> offsets(offset + c, lanes), coefficients(coefficient + c, lanes);
      each_row<n>(0, rows, [&](Index i, int) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) {
          const Index at = start + i * channels + c + k * V::size;
          const V v = load_lanes<V>(from + at, lanes, 0);
          V h = load_lanes<V>(passed + at, lanes, 0);
          if (!dresidual) h = counted(h, v, factors, k, at, lanes);
          store_lanes(dx + at, lanes,
                      factors.factor[k] * h - multiply_add(coefficients[k], v - factors.mean[k], offsets[k]));
        }
      });
    });
  });
}

}  // namespace detail::backend
}}  // namespace tern
