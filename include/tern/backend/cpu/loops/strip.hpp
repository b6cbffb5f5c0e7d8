// One dimension of a dense tensor as a strip of packets, for kernels that normalise over it. Along the innermost
// dimension, the lanes of a packet are neighbours in one row. Along another dimension, each lane is a row of its own.
// Several short rows are transposed to the second form.
#pragma once
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

/// Packet i starts i * step elements later. The first `whole` packets are full; those up to `count` have `lanes` lanes.
template <class V>
struct Strip {
  Index step, whole, count;
  int lanes;
  bool horizontal;  // true if the lanes of a packet belong to one row

  static Strip along_row(Index n) {
    return {V::size, n / V::size, (n + V::size - 1) / V::size, int(n % V::size), true};
  }
  static Strip across(Index n, Index step, Index lanes, Index whole) { return {step, whole, n, int(lanes), false}; }

  /// The offset of the i-th element of a lane's row.
  Index element(Index i, Index lane) const { return horizontal ? i : i * step + lane; }
  /// How many rows there are.
  Index rows() const { return horizontal ? 1 : lanes; }
  /// Calls f(offset, lanes) for each packet.
  template <class F>
  [[gnu::always_inline]] void each(const F& f) const {
    for (Index i = 0; i < whole; ++i) f(i * step, V::size);
    for (Index i = whole; i < count; ++i) f(i * step, lanes);
  }
  /// Combines the lanes' partial results into a result for each row.
  template <class R>
  V total(V v) const {
    return horizontal ? fold_packet<R>(v, std::make_index_sequence<V::size>()) : v;
  }
};

/// Packets of which only the first lanes are in memory. For float and the 16-bit types, AVX-512 has masks. Otherwise
/// they go through a buffer.
#if defined(__AVX512F__)
template <class T>
inline constexpr bool has_lane_masks = std::is_same_v<T, float>;
#else
template <class T>
inline constexpr bool has_lane_masks = false;
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
template <>
inline constexpr bool has_lane_masks<bfloat16> = true;
template <>
inline constexpr bool has_lane_masks<half> = true;
#endif
inline std::uint16_t lane_mask(int lanes) { return std::uint16_t((1u << lanes) - 1); }

template <class V, class T>
[[gnu::noinline]] V load_buffered(const T* p, int lanes, typename V::value_type beyond) {
  typename V::value_type values[V::size];
  for (int i = 0; i < V::size; ++i) values[i] = i < lanes ? static_cast<typename V::value_type>(p[i]) : beyond;
  return V::load(values);
}
template <class V, class T>
[[gnu::noinline]] void store_buffered(T* p, int lanes, V v) {
  T values[V::size];
  detail::expr::store_as<T>(values, v);
  for (int i = 0; i < lanes; ++i) p[i] = values[i];
}

/// The first lanes from memory, the others with a given value.
template <class V, class T>
[[gnu::always_inline]] inline V load_lanes(const T* p, int lanes, typename V::value_type beyond) {
  if (lanes == V::size) return detail::expr::load_as<V>(p);
  if constexpr (has_lane_masks<T>) {
    V v(beyond);
    const auto& memory = *reinterpret_cast<const T(*)[V::size]>(p);
    if constexpr (detail::is_half_v<T>) {
      detail::expr::vector_t<std::uint16_t, V::size> bits;
      asm("vmovdqu16 %1, %0%{%2%}%{z%}" : "=v"(bits) : "m"(memory), "Yk"(lane_mask(lanes)));
      asm("vmovaps %1, %0%{%2%}"
          : "+v"(v.v)
          : "v"(detail::expr::detail::widen<V::size>(bits, T())), "Yk"(lane_mask(lanes)));
    } else {
      asm("vmovups %1, %0%{%2%}" : "+v"(v.v) : "m"(memory), "Yk"(lane_mask(lanes)));
    }
    return v;
  } else {
    return load_buffered<V>(p, lanes, beyond);
  }
}

template <class V, class T>
[[gnu::always_inline]] inline void store_lanes(T* p, int lanes, V v) {
  if (lanes == V::size) return detail::expr::store_as<T>(p, v);
  if constexpr (has_lane_masks<T>) {
    auto& memory = *reinterpret_cast<T(*)[V::size]>(p);
    if constexpr (detail::is_half_v<T>)
      asm("vmovdqu16 %1, %0%{%2%}"
          : "+m"(memory)
          : "v"(detail::expr::detail::narrow<V::size>(v.v, T())), "Yk"(lane_mask(lanes)));
    else asm("vmovups %1, %0%{%2%}" : "+m"(memory) : "v"(v.v), "Yk"(lane_mask(lanes)));
  } else {
    store_buffered(p, lanes, v);
  }
}

/// The sum of f(offset, lanes) over a strip, for each row. It takes four packets at a time and adds in blocks, as every
/// sum does.
template <class V, class F>
[[gnu::always_inline]] inline V strip_sum(const Strip<V>& s, const F& f) {
  constexpr Index block = 64;
  V sum(0);
  Index i = 0;
  while (i + 4 <= s.whole) {
    V a(0), b = a, c = a, d = a;
    for (const Index end = std::min(s.whole, i + block); i + 4 <= end; i += 4) {
      const Index at = i * s.step;
      a += f(at, V::size);
      b += f(at + s.step, V::size);
      c += f(at + 2 * s.step, V::size);
      d += f(at + 3 * s.step, V::size);
    }
    sum += (a + b) + (c + d);
  }
  for (; i < s.whole; ++i) sum += f(i * s.step, V::size);
  for (; i < s.count; ++i) sum += f(i * s.step, s.lanes);
  return s.template total<Sum>(sum);
}

/// Shorter rows are transposed.
inline constexpr Index short_strip = 48;

/// Transposes `rows` short rows of n elements to n packets, with a lane for each row. The lanes left over repeat the
/// first row.
template <class V, class T>
void transpose_in(typename V::value_type* to, const T* from, Index rows, Index n) {
  for (Index r = 0; r < V::size; ++r)
    for (Index c = 0; c < n; ++c)
      to[c * V::size + r] = static_cast<typename V::value_type>(from[(r < rows ? r : 0) * n + c]);
}
template <class V, class T>
void transpose_out(T* to, const typename V::value_type* from, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < n; ++c) to[r * n + c] = T(from[c * V::size + r]);
}

/// Calls on(strip, inputs, output, row) for every strip of dense tensors of one shape along a dimension, on all
/// threads. row is the number of the strip's first row among outer x inner rows. The output may be null.
template <class V, class T, std::size_t count, class On>
void for_each_strip(const detail::RowsAlong& shape, const On& on, T* out, const T* const (&in)[count]) {
  using C = typename V::value_type;
  const Index outer = shape.outer, n = shape.n, inner = shape.inner, grain = 8192 / (n + 1) + 1;
  if (n == 0) return;
  if (inner == 1 && n < short_strip) {
    detail::parallel_for((outer + V::size - 1) / V::size, grain / V::size + 1, [&](Index first, Index last) {
      alignas(64) C buffer[count + 1][short_strip * V::size];
      const C* p[count];
      for (Index i = first; i < last; ++i) {
        const Index row = i * V::size, rows = std::min<Index>(V::size, outer - row);
        for (std::size_t k = 0; k < count; ++k) {
          transpose_in<V>(buffer[k], in[k] + row * n, rows, n);
          p[k] = buffer[k];
        }
        on(Strip<V>::across(n, V::size, rows, n), p, buffer[count], row);
        if (out) transpose_out<V>(out + row * n, buffer[count], rows, n);
      }
    });
    return;
  }
  const auto at = [&](const Strip<V>& strip, Index offset, Index row) {
    const T* p[count];
    for (std::size_t k = 0; k < count; ++k) p[k] = in[k] + offset;
    on(strip, p, out ? out + offset : out, row);
  };
  if (inner == 1) {
    detail::parallel_for(outer, grain, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) at(Strip<V>::along_row(n), i * n, i);
    });
    return;
  }
  const Index blocks = (inner + V::size - 1) / V::size;
  detail::parallel_for(outer * blocks, grain / V::size + 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index column = i % blocks * V::size, lanes = std::min<Index>(V::size, inner - column);
      at(Strip<V>::across(n, inner, lanes, lanes < V::size ? 0 : n), i / blocks * n * inner + column,
         i / blocks * inner + column);
    }
  });
}

}  // namespace detail::backend::cpu_kernels
}}  // namespace tern
