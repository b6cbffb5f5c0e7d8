// The functions of winograd.hpp that are not templates.
#pragma once
#include "winograd.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels::winograd {

TERN_NOINLINE void weights_to_points(Index in, Index out, const float* w, float* to) {
  using Double = WeightTransform::Double;
  constexpr Index block = 64;
  const Index blocks = (in + block - 1) / block, next = plane(in, out);
  detail::parallel_for((out + strip - 1) / strip * blocks, 1, [&](Index begin, Index end) {
    const Workspace<float> scratch(9 * block * strip);
    for (Index task = begin; task < end; ++task) {
      const Index k = task / blocks * strip, c = task % blocks * block;
      const Index width = std::min(strip, out - k), depth = std::min(block, in - c), bytes = sizeof(float);
      for (Index tap = 0; tap < 9; ++tap)
        copy_transposed<4, false>(reinterpret_cast<char*>(scratch.get() + tap * depth * width),
                                  reinterpret_cast<const char*>(w + (k * 9 + tap) * in + c),
                                  {depth, width, width * bytes, bytes, bytes, 9 * in * bytes, int(bytes)});
      for (Index at = 0; at < depth * width; at += Double::size)
        on_both_sides<WeightTransform, Double>(
            [&](int i, int j) __attribute__((always_inline)) {
              return detail::expr::load_as<Double>(scratch.get() + (3 * i + j) * depth * width + at);
            },
            [&](int i, int j, Double v) __attribute__((always_inline)) {
              detail::expr::store_as(to + (6 * i + j) * next + k * in + c * width + at, v);
            });
    }
  });
}

TERN_NOINLINE void turned_weights_to_points(Index in, Index out, const float* w, float* to) {
  using Double = WeightTransform::Double;
  const Index next = plane(out, in);
  detail::parallel_for(out, std::max<Index>(1, 4096 / in), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k)
      for (Index c = 0; c < in; c += Double::size) {
        const Index first = c - c % strip, width = std::min(strip, in - first);
        on_both_sides<WeightTransform, Double>(
            [&](int i, int j) __attribute__((always_inline)) {
              return detail::expr::load_as<Double>(w + (k * 9 + 8 - 3 * i - j) * in + c);
            },
            [&](int i, int j, Double v) __attribute__((always_inline)) {
              detail::expr::store_as(to + (6 * i + j) * next + first * out + k * width + c - first, v);
            });
      }
  });
}

TERN_NOINLINE Index tiles_at_once(const TiledConvolution& s) {
  const Index fit = (Index(1) << 19) / (Index(sizeof(float)) * points * (s.in + s.out));
  const Index share = (s.count() + get_num_threads() - 1) / get_num_threads();
  return (std::max<Index>(1, std::min({std::max<Index>(fit, 32), Index(96), share})) + rows - 1) / rows * rows;
}

}}}  // namespace tern::detail::backend::cpu_kernels::winograd
