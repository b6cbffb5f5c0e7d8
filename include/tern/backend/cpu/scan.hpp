// Recurrences and running extremes along a dimension. They go element by element, for up to 64 neighbours at a time;
// running sums of rows go packet by packet. Floating-point sums are calculated in double.
#pragma once
#include "../scan.hpp"
#include "loops/map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

template <class T>
using scan_t = std::conditional_t<detail::is_floating_v<T>, double, T>;

/// Calls next(s, i, k) for element i of a, the k-th along dim, where s is its row's state, which is `start` at first.
template <class State, class Next>
void scan_each(const Array& a, int dim, bool reverse, const State& start, const Next& next) {
  constexpr Index width = 64;
  const detail::RowsAlong m(a, dim);
  if (a.numel == 0) return;
  const Index strips = (m.inner + width - 1) / width, across = m.inner < width ? m.inner : width;
  detail::parallel_for(m.outer * strips, parallel_grain / (m.n * across) + 1, [=](Index first, Index last) {
    for (Index strip = first; strip < last; ++strip) {
      const Index column = strip % strips * width, count = m.inner - column < width ? m.inner - column : width;
      State s[width];
      for (Index j = 0; j < count; ++j) s[j] = start;
      for (Index step = 0; step < m.n; ++step) {
        const Index k = reverse ? m.n - 1 - step : step, i = (strip / strips * m.n + k) * m.inner + column;
        for (Index j = 0; j < count; ++j) next(s[j], i + j, k);
      }
    }
  });
}

using Doubles = detail::expr::Packet<double>;

/// Each lane's sum with all lanes before it (after it, if reverse), in log2(size) steps.
template <bool reverse, int step = 1, std::size_t... lane>
[[gnu::always_inline]] inline Doubles lane_sums(Doubles x, std::index_sequence<lane...> all) {
  constexpr int n = Doubles::size;
  const Doubles zero(0);
  x += Doubles(__builtin_shufflevector(x.v, zero.v,
                                       (reverse            ? std::min(int(lane) + step, n)
                                        : int(lane) < step ? n
                                                           : int(lane) - step)...));
  if constexpr (2 * step < n) return lane_sums<reverse, 2 * step>(x, all);
  else return x;
}

/// The running sums of n neighbours, from the last one on if reverse. A packet is first summed by itself, so it waits
/// for the previous packet only for one addition. That cannot overflow, because float is summed in double.
template <bool reverse, class T>
void sum_row(T* y, const T* x, Index n) {
  constexpr int width = Doubles::size;
  Doubles before(0);
  Index i = 0;
  for (; i + width <= n; i += width) {
    const Index at = reverse ? n - width - i : i;
    const Doubles sums = lane_sums<reverse>(detail::expr::load_as<Doubles>(x + at), std::make_index_sequence<width>());
    detail::expr::store_as<T>(y + at, before + sums);
    before += sums.v[reverse ? 0 : width - 1];
  }
  double sum = before.v[0];
  for (; i < n; ++i) {
    const Index at = reverse ? n - 1 - i : i;
    sum += double(x[at]);
    y[at] = T(sum);
  }
}

/// The running sums of rows of n.
template <bool reverse, class T>
void sum_rows(T* y, const T* x, Index rows, Index n) {
  detail::parallel_for(rows, parallel_grain / (n + 1) + 1, [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) sum_row<reverse>(y + i * n, x + i * n, n);
  });
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const Scan& op) {
  using namespace cpu_kernels;
  using S = scan_t<T>;
  if constexpr (std::is_same_v<T, float>)
    if (const detail::RowsAlong m(op.in, op.dim); op.kind == Scan::sum && m.inner == 1)
      return op.reverse ? sum_rows<true>(op.out.as<T>(), op.in.as<T>(), m.outer, m.n)
                        : sum_rows<false>(op.out.as<T>(), op.in.as<T>(), m.outer, m.n);
  // Integers wrap around, which is defined for unsigned ones alone.
  using W = typename std::conditional_t<std::is_integral_v<S> && sizeof(S) >= 4, std::make_unsigned<S>,
                                        std::type_identity<S>>::type;
  const T* const x = op.in.as<T>();
  const T* const gates = op.gates ? op.gates->as<T>() : nullptr;
  T* const y = op.out.as<T>();
  if (op.kind == Scan::sum)
    scan_each(op.in, op.dim, op.reverse, S(0), [=](S& s, Index i, Index) { y[i] = T(s = S(W(s) + W(S(x[i])))); });
  else if (op.kind == Scan::product)
    scan_each(op.in, op.dim, op.reverse, S(1), [=](S& s, Index i, Index) { y[i] = T(s = S(W(s) * W(S(x[i])))); });
  else
    scan_each(op.in, op.dim, op.reverse, S(0),
              [=](S& s, Index i, Index) { y[i] = T(s = S(S(gates[i]) * s + S(x[i]))); });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const RunningExtreme& op) {
  using C = compute_t<T>;
  struct Best {
    C value;
    Index at;
  };
  const T* const x = op.in.as<T>();
  T* const values = op.values.as<T>();
  Index* const positions = op.positions.as<Index>();
  const auto scan = [&](auto at_least) {
    cpu_kernels::scan_each(op.in, op.dim, false, Best{C(0), -1}, [=](Best& best, Index i, Index k) {
      const C v = C(x[i]);
      if (best.at < 0 || v != v || at_least(v, best.value)) best = {v, k};  // nothing is at least NaN
      values[i] = T(best.value), positions[i] = best.at;
    });
  };
  if (op.largest) scan([](C a, C b) { return a >= b; });
  else scan([](C a, C b) { return a <= b; });
}

}  // namespace detail::backend
}}  // namespace tern
