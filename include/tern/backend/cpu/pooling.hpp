// Pooling over packets of channels. An element's gradient is gathered from the windows that contain it, so one thread
// writes it, once.
#pragma once
#include "../pooling.hpp"
#include "loops/channels.hpp"
#include "loops/workspace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// The positions first, first + step … below last in one dimension, and that dimension's factor of 1 / divisor.
struct PoolRange {
  Index first, last, step;
  double share;
};

/// Window o of `out` along dimension d.
TERN_API PoolRange pool_window(const PoolParams& p, int d, Index o, Index in, Index out);

/// The windows along dimension d that can contain element i.
TERN_API PoolRange pool_holders(const PoolParams& p, int d, Index i, Index in, Index out);

/// For every position along each dimension, its window or the windows that contain it, calculated once.
class TERN_API PoolRanges {
 public:
  using Range = PoolRange (*)(const PoolParams&, int d, Index i, Index in, Index out);
  PoolRanges(const PoolParams& p, const Images& in, const Images& out, const Images& over, Range range);
  const PoolRange* along(int d) const { return along_[d]; }

 private:
  Workspace<PoolRange> ranges_;
  const PoolRange* along_[3];
};

/// Calls f(image, first position, ranges of the first two dimensions) for every line of positions of `over`.
template <class F>
void each_pool_line(const Images& over, const PoolRanges& ranges, Index work, const F& f) {
  const Index height = over.size[1], width = over.size[2], lines = over.size[0] * height;
  detail::parallel_for(over.count * lines, parallel_grain / (width * over.channels * work + 1) + 1,
                       [&](Index first, Index last) {
                         for (Index i = first; i < last; ++i) {
                           const Index line = i % lines;
                           f(i / lines, line * width, ranges.along(0)[line / height], ranges.along(1)[line % height]);
                         }
                       });
}

/// Calls f(position) for each position of a window in an image.
template <class F>
[[gnu::always_inline]] inline void each_in_window(const Images& image, const PoolRange& z, const PoolRange& y,
                                                  const PoolRange& x, const F& f) {
  for (Index k = z.first; k < z.last; k += z.step)
    for (Index j = y.first; j < y.last; j += y.step) {
      const Index line = (k * image.size[1] + j) * image.size[2];
      for (Index i = x.first; i < x.last; i += x.step) f(line + i);
    }
}

/// The first position of a window; -1 if it lies outside the image.
inline Index first_in_window(const Images& image, const PoolRange& z, const PoolRange& y, const PoolRange& x) {
  if (z.first >= z.last || y.first >= y.last || x.first >= x.last) return -1;
  return (z.first * image.size[1] + y.first) * image.size[2] + x.first;
}

/// Positions in an image, one for each lane of V, as integers that V's comparisons can select. In memory they are
/// int32.
template <class V>
struct LaneIndices {
  using Bits = typename V::Bits;
  using Stored = detail::expr::vector_t<std::int32_t, V::size>;
  using Number = std::conditional_t<sizeof(typename V::value_type) == 4, std::int32_t, std::int64_t>;

  static constexpr bool masks = has_lane_masks<float> && sizeof(Stored) == 64;
  using Bytes = char[sizeof(Stored)];

  static Bits all(Index place) { return Bits{} + Number(place); }
  [[gnu::always_inline]] static Bits load(const std::int32_t* p, int lanes) {
    Stored v{};
    if (lanes == V::size) __builtin_memcpy(&v, p, sizeof v);
    else if constexpr (masks)
      asm("vmovups %1, %0%{%2%}" : "+v"(v) : "m"(*reinterpret_cast<const Bytes*>(p)), "Yk"(lane_mask(lanes)));
    else __builtin_memcpy(&v, p, sizeof(std::int32_t) * std::size_t(lanes));
    return __builtin_convertvector(v, Bits);
  }
  [[gnu::always_inline]] static void store(std::int32_t* p, int lanes, Bits bits) {
    const Stored v = __builtin_convertvector(bits, Stored);
    if (lanes == V::size) __builtin_memcpy(p, &v, sizeof v);
    else if constexpr (masks)
      asm("vmovups %1, %0%{%2%}" : "+m"(*reinterpret_cast<Bytes*>(p)) : "v"(v), "Yk"(lane_mask(lanes)));
    else __builtin_memcpy(p, &v, sizeof(std::int32_t) * std::size_t(lanes));
  }
};

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const MaxPool& op) {
  using V = detail::expr::packet_t<T>;
  using Indices = cpu_kernels::LaneIndices<V>;
  using Range = cpu_kernels::PoolRange;
  const Images in(op.x), out(op.y);
  const cpu_kernels::PoolRanges windows(op.params, in, out, out, &cpu_kernels::pool_window);
  const Index channels = in.channels, work = in.places() / out.places() + 1;
  cpu_kernels::each_pool_line(out, windows, work, [&](Index image, Index place, const Range& deep, const Range& high) {
    const Index row = (image * out.places() + place) * channels;
    const T* const from = op.x.as<T>() + image * in.places() * channels;
    T* const to = op.y.as<T>() + row;
    std::int32_t* const chosen = op.at ? op.at->as<std::int32_t>() + row : nullptr;
    cpu_kernels::each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      for (Index i = 0, o = c; i < out.size[2]; ++i, o += channels) {
        const Range& wide = windows.along(2)[i];
        const Index first = cpu_kernels::first_in_window(in, deep, high, wide);
        V best[n];
        typename V::Bits where_best[n];
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) best[k] = -__builtin_inf(), where_best[k] = Indices::all(first);
        cpu_kernels::each_in_window(in, deep, high, wide, [&](Index here) __attribute__((always_inline)) {
#pragma GCC unroll 4
          for (int k = 0; k < n; ++k) {
            const V v = cpu_kernels::load_lanes<V>(from + here * channels + c + k * V::size, lanes, 0);
            const auto better = (v > best[k]) | (v != v);
            best[k] = where(better, v, best[k]);
            where_best[k] = better.bits ? Indices::all(here) : where_best[k];
          }
        });
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) {
          cpu_kernels::store_lanes(to + o + k * V::size, lanes, best[k]);
          if (chosen) Indices::store(chosen + o + k * V::size, lanes, where_best[k]);
        }
      }
    });
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const MaxPoolGradient& op) {
  using V = detail::expr::packet_t<T>;
  using Indices = cpu_kernels::LaneIndices<V>;
  using Range = cpu_kernels::PoolRange;
  const Images in(op.dx), out(op.dy);
  const cpu_kernels::PoolRanges holders(op.params, in, out, in, &cpu_kernels::pool_holders);
  const Range* const across = holders.along(2);
  const Index channels = in.channels, pitch = out.size[2] * channels, work = out.places() / in.places() + 2;
  cpu_kernels::each_pool_line(in, holders, work, [&](Index image, Index place, const Range& deep, const Range& high) {
    const Index start = image * out.places() * channels, lines = high.last - high.first;
    const T* const from = op.dy.as<T>() + start;
    const std::int32_t* const chosen = op.at.as<std::int32_t>() + start;
    T* const to = op.dx.as<T>() + (image * in.places() + place) * channels;
    cpu_kernels::each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      const auto add_plane = [&](const T* g, const std::int32_t* at_g, bool first) __attribute__((always_inline)) {
        for (Index i = 0; i < in.size[2]; ++i) {
          const auto here = Indices::all(place + i);
          T* const sums = to + i * channels + c;
          V sum[n];
#pragma GCC unroll 4
          for (int k = 0; k < n; ++k) sum[k] = first ? V(0) : cpu_kernels::load_lanes<V>(sums + k * V::size, lanes, 0);
          for (Index line = 0; line < lines * pitch; line += pitch)
            for (Index o = line + across[i].first * channels; o < line + across[i].last * channels; o += channels)
#pragma GCC unroll 4
              for (int k = 0; k < n; ++k) {
                const V v = cpu_kernels::load_lanes<V>(g + o + k * V::size, lanes, 0);
                sum[k].v += Indices::load(at_g + o + k * V::size, lanes) == here ? v.v : V(0).v;
              }
#pragma GCC unroll 4
          for (int k = 0; k < n; ++k) cpu_kernels::store_lanes(sums + k * V::size, lanes, sum[k]);
        }
      };
      for (Index z = deep.first; z < deep.last; ++z) {
        const Index first = (z * out.size[1] + high.first) * pitch + c;
        add_plane(from + first, chosen + first, z == deep.first);
      }
      if (deep.first >= deep.last)
        for (Index i = 0; i < in.size[2]; ++i) std::fill_n(to + i * channels + c, n * lanes, T(0));
    });
  });
}

/// Adds up each line first, then the sums of the lines.
template <class T>
void kernel(On<Cpu>, Types<T>, const AveragePool& op) {
  using V = detail::expr::packet_t<T>;
  using Range = cpu_kernels::PoolRange;
  const Images in(op.x), out(op.y);
  const cpu_kernels::PoolRanges windows(op.params, in, out, out, &cpu_kernels::pool_window);
  const Index channels = in.channels, work = in.places() / out.places() + 1;
  cpu_kernels::each_pool_line(out, windows, work, [&](Index image, Index place, const Range& deep, const Range& high) {
    const T* const from = op.x.as<T>() + image * in.places() * channels;
    T* const to = op.y.as<T>() + (image * out.places() + place) * channels;
    cpu_kernels::each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      for (Index o = 0; o < out.size[2]; ++o) {
        const Range& wide = windows.along(2)[o];
        V sum[n], line[n];
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) sum[k] = 0;
        for (Index z = deep.first; z < deep.last; ++z)
          for (Index j = high.first; j < high.last; ++j) {
#pragma GCC unroll 4
            for (int k = 0; k < n; ++k) line[k] = 0;
            const T* const first = from + (z * in.size[1] + j) * in.size[2] * channels + c;
            for (Index i = wide.first; i < wide.last; ++i)
#pragma GCC unroll 4
              for (int k = 0; k < n; ++k)
                line[k] += cpu_kernels::load_lanes<V>(first + i * channels + k * V::size, lanes, 0);
#pragma GCC unroll 4
            for (int k = 0; k < n; ++k) sum[k] += line[k];
          }
        const V share(deep.share * high.share * wide.share);
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k)
          cpu_kernels::store_lanes(to + o * channels + c + k * V::size, lanes, sum[k] * share);
      }
    });
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const AveragePoolGradient& op) {
  using V = detail::expr::packet_t<T>;
  using Range = cpu_kernels::PoolRange;
  const Images in(op.dx), out(op.dy);
  const cpu_kernels::PoolRanges windows(op.params, in, out, out, &cpu_kernels::pool_window),
      holders(op.params, in, out, in, &cpu_kernels::pool_holders);
  const Index channels = in.channels, work = out.places() / in.places() + 2;
  cpu_kernels::each_pool_line(in, holders, work, [&](Index image, Index place, const Range& deep, const Range& high) {
    const T* const from = op.dy.as<T>() + image * out.places() * channels;
    T* const to = op.dx.as<T>() + (image * in.places() + place) * channels;
    cpu_kernels::each_channel_run<V>(channels, [&](Index c, auto lanes, auto packets) __attribute__((always_inline)) {
      constexpr int n = decltype(packets)::value;
      for (Index i = 0; i < in.size[2]; ++i) {
        const Range& wide = holders.along(2)[i];
        V sum[n];
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) sum[k] = 0;
        for (Index z = deep.first; z < deep.last; ++z)
          for (Index j = high.first; j < high.last; ++j) {
            const double line = windows.along(0)[z].share * windows.along(1)[j].share;
            const T* const first = from + (z * out.size[1] + j) * out.size[2] * channels + c;
            for (Index o = wide.first; o < wide.last; ++o) {
              const V share(line * windows.along(2)[o].share);
#pragma GCC unroll 4
              for (int k = 0; k < n; ++k)
                sum[k] = multiply_add(share, cpu_kernels::load_lanes<V>(first + o * channels + k * V::size, lanes, 0),
                                      sum[k]);
            }
          }
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) cpu_kernels::store_lanes(to + i * channels + c + k * V::size, lanes, sum[k]);
      }
    });
  });
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "pooling.ipp"
#endif
