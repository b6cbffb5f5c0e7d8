// Layer normalisation, one row at a time while it is in the cache.
#pragma once
#include "../layer_norm.hpp"
#include "loops/strip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

inline constexpr Index layer_norm_rows = 32;  // rows that are added up together for the gradients of weight and bias

/// Meanwhile it prefetches the next row, which begins n elements later.
template <class V, class T>
void layer_norm_row(const Strip<V>& s, T* y, const T* x, const typename V::value_type* weight,
                    const typename V::value_type* bias, Index n, double eps, typename V::value_type& mean,
                    typename V::value_type& scale) {
  using C = typename V::value_type;
  const V sum =
      strip_sum(s, [&](Index at, int lanes) __attribute__((always_inline)) { return load_lanes<V>(x + at, lanes, 0); });
  C lane[V::size];
  sum.store(lane);
  mean = lane[0] / C(n);
  const C centre = mean;
  const V squares = strip_sum(s, [&](Index at, int lanes) __attribute__((always_inline)) {
    __builtin_prefetch(x + at + n);
    const V d = load_lanes<V>(x + at, lanes, centre) - V(centre);
    return d * d;
  });
  squares.store(lane);
  scale = 1 / std::sqrt(lane[0] / C(n) + C(eps));
  const V m(mean), factor(scale);
  s.each([&](Index at, int lanes) __attribute__((always_inline)) {
    __builtin_prefetch(y + at + n, 1);
    const V normal = (load_lanes<V>(x + at, lanes, 0) - m) * factor;
    store_lanes(y + at, lanes,
                multiply_add(normal, load_lanes<V>(weight + at, lanes, 0), load_lanes<V>(bias + at, lanes, 0)));
  });
}

/// Calculates dx of a row, and adds the row's part of dweight and dbias to sums.
template <class V, class T>
void layer_norm_row_gradient(const Strip<V>& s, T* dx, typename V::value_type* dweight, typename V::value_type* dbias,
                             const T* g, const T* x, const typename V::value_type* weight, Index n,
                             typename V::value_type mean, typename V::value_type scale) {
  const V m(mean), factor(scale), share(1 / typename V::value_type(n));
  const auto normal = [&](Index at, int lanes)
                          __attribute__((always_inline)) { return (load_lanes<V>(x + at, lanes, 0) - m) * factor; };
  const auto scaled_gradient = [&](Index at, int lanes) __attribute__((always_inline)) {
    return load_lanes<V>(g + at, lanes, 0) * load_lanes<V>(weight + at, lanes, 0);
  };
  if (dx) {
    const V sum = strip_sum(s, scaled_gradient) * share;
    const V product =
        strip_sum(s, [&](Index at, int lanes)
                         __attribute__((always_inline)) { return scaled_gradient(at, lanes) * normal(at, lanes); }) *
        share;
    s.each([&](Index at, int lanes) __attribute__((always_inline)) {
      store_lanes(dx + at, lanes, factor * (scaled_gradient(at, lanes) - sum - normal(at, lanes) * product));
    });
  }
  s.each([&](Index at, int lanes) __attribute__((always_inline)) {
    const V h = load_lanes<V>(g + at, lanes, 0);
    if (dweight) store_lanes(dweight + at, lanes, load_lanes<V>(dweight + at, lanes, 0) + h * normal(at, lanes));
    if (dbias) store_lanes(dbias + at, lanes, load_lanes<V>(dbias + at, lanes, 0) + h);
  });
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const LayerNorm& op) {
  using namespace cpu_kernels;
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  const C *const weight = op.weight.as<C>(), *const bias = op.bias.as<C>();
  const Index n = op.weight.numel;
  detail::parallel_for(op.mean.numel, parallel_grain / (n + 1) + 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      layer_norm_row<V>(Strip<V>::along_row(n), op.y.as<T>() + i * n, static_cast<const T*>(op.x.as<T>() + i * n),
                        weight, bias, n, op.eps, op.mean.as<C>()[i], op.scale.as<C>()[i]);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const LayerNormGradient& op) {
  using namespace cpu_kernels;
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  const C* const weight = op.weight.as<C>();
  const Index n = op.weight.numel, rows = op.mean.numel, chunks = (rows + layer_norm_rows - 1) / layer_norm_rows;
  // Sums over rows: for each chunk dweight and dbias, then the sums of the chunks.
  const Workspace<C> scratch(2 * n * chunks);
  detail::parallel_for(chunks, parallel_grain / (n * layer_norm_rows + 1) + 1, [&](Index first, Index last) {
    for (Index chunk = first; chunk < last; ++chunk) {
      C* const sums = scratch.get() + 2 * n * chunk;
      std::fill(sums, sums + 2 * n, C(0));
      for (Index i = chunk * layer_norm_rows; i < std::min(rows, (chunk + 1) * layer_norm_rows); ++i)
        layer_norm_row_gradient<V>(
            Strip<V>::along_row(n), op.dx ? op.dx->as<T>() + i * n : nullptr, op.dweight ? sums : nullptr,
            op.dbias ? sums + n : nullptr, static_cast<const T*>(op.g.as<T>() + i * n),
            static_cast<const T*>(op.x.as<T>() + i * n), weight, n, op.mean.as<C>()[i], op.scale.as<C>()[i]);
    }
  });
  C* const total = scratch.get();
  for (Index chunk = 1; chunk < chunks; ++chunk)
    for (Index i = 0; i < 2 * n; ++i) total[i] += total[2 * n * chunk + i];
  for (const Array* result : {op.dweight, op.dbias})
    for (Index i = 0; result && i < n; ++i) result->as<C>()[i] = rows ? total[(result == op.dbias ? n : 0) + i] : C(0);
}

}  // namespace detail::backend
}}  // namespace tern
