// Channels that lie side by side, as kernels of channels-last arrays walk over them.
#pragma once
#include "strip.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cpu_kernels {

/// f(first channel, lanes, number of packets) for runs of four packets of channels, then for single ones, at last for
/// one of which only some lanes are channels. What is known of lanes and packets is so from their types.
template <class V, class F>
[[gnu::always_inline]] inline void each_channel_run(Index channels, const F& f) {
  const std::integral_constant<int, V::size> all;
  const std::integral_constant<int, 4> four;
  const std::integral_constant<int, 1> one;
  Index c = 0;
  for (; c + 4 * V::size <= channels; c += 4 * V::size) f(c, all, four);
  for (; c + V::size <= channels; c += V::size) f(c, all, one);
  if (c < channels) f(c, int(channels - c), one);
}

/// n packets of channels.
template <class V, int n>
struct ChannelRun {
  V v[n];
  template <class T>
  [[gnu::always_inline]] ChannelRun(const T* from, int lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) v[k] = load_lanes<V>(from + k * V::size, lanes, 0);
  }
  V& operator[](int k) { return v[k]; }
  const V& operator[](int k) const { return v[k]; }
};

}  // namespace backend::cpu_kernels
}  // namespace tern
