// Softmax in three passes over a row that stays in the cache: the maximum, the sum of exponentials, the result.
// Meanwhile it prefetches the next row.
#pragma once
#include "../softmax.hpp"
#include "loops/strip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// The maximum of a strip, for each row. NaNs are ignored.
template <class V, class T>
V strip_maximum(const Strip<V>& s, const T* x) {
  using C = typename V::value_type;
  const C low = -std::numeric_limits<C>::infinity();
  V a(low), b = a, c = a, d = a;
  Index i = 0;
  for (; i + 4 <= s.whole; i += 4) {  // four at a time, because a single comparison would wait for the last one
    const T* const p = x + i * s.step;
    a = larger(detail::expr::load_as<V>(p), a);
    b = larger(detail::expr::load_as<V>(p + s.step), b);
    c = larger(detail::expr::load_as<V>(p + 2 * s.step), c);
    d = larger(detail::expr::load_as<V>(p + 3 * s.step), d);
  }
  for (; i < s.count; ++i) a = larger(load_lanes<V>(x + i * s.step, i < s.whole ? V::size : s.lanes, low), a);
  return s.template total<Maximum>(larger(larger(a, b), larger(c, d)));
}

/// Writes e^(x - largest) to y, if y is given, and returns its sum.
template <class V, class T>
V strip_exp_sum(const Strip<V>& s, const T* x, V largest, typename V::value_type* y) {
  using C = typename V::value_type;
  const auto term = [&](Index at, int lanes) __attribute__((always_inline)) {
    const V e = exp(load_lanes<V>(x + at, lanes, -std::numeric_limits<C>::infinity()) - largest);
    if (y) store_lanes(y + at, lanes, e);
    __builtin_prefetch(x + at + s.count * s.step);
    return e;
  };
  constexpr Index block = 64;  // added up in blocks, as every sum is; an exponential takes longer than an addition
  V sum(0);
  Index i = 0;
  while (i < s.whole) {
    V part(0);
    for (const Index end = std::min(s.whole, i + block); i < end; ++i) part += term(i * s.step, V::size);
    sum += part;
  }
  for (; i < s.count; ++i) sum += term(i * s.step, s.lanes);
  return s.template total<Sum>(sum);
}

struct SoftmaxRow {
  bool log;
  template <class V, class T>
  void operator()(const Strip<V>& s, const T* const* in, T* y, Index) const {
    const T* const x = in[0];
    using C = typename V::value_type;
    const V largest = strip_maximum(s, x);
    if (log) {
      const V shift = largest + detail::expr::log(strip_exp_sum<V>(s, x, largest, nullptr));
      s.each([&](Index at, int lanes) __attribute__((always_inline)) {
        store_lanes(y + at, lanes, load_lanes<V>(x + at, lanes, 0) - shift);
      });
    } else if constexpr (std::is_same_v<T, C>) {
      const V scale = 1 / strip_exp_sum(s, x, largest, y);
      s.each([&](Index at, int lanes) __attribute__((always_inline)) {
        __builtin_prefetch(y + at + s.count * s.step, 1);
        store_lanes(y + at, lanes, load_lanes<V>(y + at, lanes, 0) * scale);
      });
    } else {  // a 16-bit y cannot hold numbers that are not scaled yet
      const V scale = 1 / strip_exp_sum<V>(s, x, largest, nullptr);
      s.each([&](Index at, int lanes) __attribute__((always_inline)) {
        store_lanes(y + at, lanes, exp(load_lanes<V>(x + at, lanes, 0) - largest) * scale);
      });
    }
  }
};

struct SoftmaxGradientRow {
  bool log;
  template <class V, class T>
  void operator()(const Strip<V>& s, const T* const* in, T* dx, Index) const {
    const T *const y = in[0], *const g = in[1];
    const V sum = strip_sum(s, [&](Index at, int lanes) __attribute__((always_inline)) {
      const V h = load_lanes<V>(g + at, lanes, 0);
      return log ? h : h * load_lanes<V>(y + at, lanes, 0);
    });
    s.each([&](Index at, int lanes) __attribute__((always_inline)) {
      const V v = load_lanes<V>(y + at, lanes, 0), h = load_lanes<V>(g + at, lanes, 0);
      store_lanes(dx + at, lanes, log ? h - exp(v) * sum : v * (h - sum));
    });
  }
};

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const Softmax& op) {
  using namespace cpu_kernels;
  const T* const in[] = {op.x.as<T>()};
  for_each_strip<detail::expr::packet_t<T>>(detail::RowsAlong(op.x, op.dim), SoftmaxRow{op.log}, op.y.as<T>(), in);
}

template <class T>
void kernel(On<Cpu>, Types<T>, const SoftmaxGradient& op) {
  using namespace cpu_kernels;
  const T* const in[] = {op.y.as<T>(), op.g.as<T>()};
  for_each_strip<detail::expr::packet_t<T>>(detail::RowsAlong(op.y, op.dim), SoftmaxGradientRow{op.log}, op.dx.as<T>(),
                                            in);
}

}  // namespace detail::backend
}}  // namespace tern
