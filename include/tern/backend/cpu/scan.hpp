// Recurrences along a dimension. They go element by element, for up to 64 neighbours at a time; running sums of rows go
// packet by packet. Floating-point sums are calculated in double.
#pragma once
#include "../scan.hpp"
#include "../../core/rows_along.hpp"
#include "loops/map.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cpu_kernels {

template <class T>
using scan_t = std::conditional_t<detail::is_floating_v<T>, double, T>;

/// Applies next(s, x, gate) along dim, beginning with `start`.
template <class T, class Next>
void scan_each(const Scan& op, scan_t<T> start, const Next& next) {
  constexpr Index width = 64;
  const detail::RowsAlong m(op.in, op.dim);
  if (op.in.numel == 0) return;
  const Index strips = (m.inner + width - 1) / width, across = m.inner < width ? m.inner : width;
  const T* const x = op.in.as<T>();
  const T* const gate = op.gates ? op.gates->as<T>() : x;
  T* const y = op.out.as<T>();
  const bool reverse = op.reverse;
  detail::parallel_for(m.outer * strips, parallel_grain / (m.n * across) + 1, [&](Index first, Index last) {
    for (Index strip = first; strip < last; ++strip) {
      const Index column = strip % strips * width, count = m.inner - column < width ? m.inner - column : width;
      scan_t<T> s[width];
      for (Index j = 0; j < count; ++j) s[j] = start;
      for (Index k = 0; k < m.n; ++k) {
        const Index i = (strip / strips * m.n + (reverse ? m.n - 1 - k : k)) * m.inner + column;
        for (Index j = 0; j < count; ++j) {
          s[j] = next(s[j], scan_t<T>(x[i + j]), scan_t<T>(gate[i + j]));
          y[i + j] = T(s[j]);
        }
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
  x += Doubles(__builtin_shufflevector(
      x.v, zero.v, (reverse ? std::min(int(lane) + step, n) : int(lane) < step ? n : int(lane) - step)...));
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
    for (Index i = first; i < last; ++i)
      sum_row<reverse>(y + i * n, x + i * n, n);
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
  if (op.kind == Scan::sum)
    scan_each<T>(op, S(0), [](S s, S x, S) { return S(s + x); });
  else if (op.kind == Scan::product)
    scan_each<T>(op, S(1), [](S s, S x, S) { return S(s * x); });
  else
    scan_each<T>(op, S(0), [](S s, S x, S gate) { return S(gate * s + x); });
}

}  // namespace backend
}  // namespace tern
