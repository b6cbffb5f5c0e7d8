// Recurrences along a dimension: one after the other, for up to 64 neighbours at a time. Sums of floating-point numbers
// are made in double.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../scan.hpp"
#include "gather.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

template <class T>
using scan_t = std::conditional_t<is_floating_v<T>, double, T>;

/// next(s, x, gate) along dim, from `start` on.
template <class T, class Next>
void scan_each(const Array& out, const Array& in, const Array* gates, int dim, bool reverse, scan_t<T> start,
               const Next& next) {
  constexpr Index width = 64;
  const Middle m(in, dim);
  if (in.numel == 0) return;
  const Index strips = (m.inner + width - 1) / width, across = m.inner < width ? m.inner : width;
  const T* const x = in.as<T>();
  const T* const gate = gates ? gates->as<T>() : x;
  T* const y = out.as<T>();
  parallel_for(m.outer * strips, parallel_grain / (m.size * across) + 1, [&](Index first, Index last) {
    for (Index strip = first; strip < last; ++strip) {
      const Index column = strip % strips * width, count = m.inner - column < width ? m.inner - column : width;
      scan_t<T> s[width];
      for (Index j = 0; j < count; ++j) s[j] = start;
      for (Index k = 0; k < m.size; ++k) {
        const Index i = (strip / strips * m.size + (reverse ? m.size - 1 - k : k)) * m.inner + column;
        for (Index j = 0; j < count; ++j) {
          s[j] = next(s[j], scan_t<T>(x[i + j]), scan_t<T>(gate[i + j]));
          y[i + j] = T(s[j]);
        }
      }
    }
  });
}

}  // namespace cpu

template <class T>
void scan(Cpu, Scan kind, const Array& out, const Array& in, const Array* gates, int dim, bool reverse) {
  using S = cpu::scan_t<T>;
  if (kind == Scan::sum)
    cpu::scan_each<T>(out, in, gates, dim, reverse, S(0), [](S s, S x, S) { return S(s + x); });
  else if (kind == Scan::product)
    cpu::scan_each<T>(out, in, gates, dim, reverse, S(1), [](S s, S x, S) { return S(s * x); });
  else
    cpu::scan_each<T>(out, in, gates, dim, reverse, S(0), [](S s, S x, S gate) { return S(gate * s + x); });
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
