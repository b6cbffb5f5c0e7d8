// Loops over adjacent channels, for kernels on channels-last arrays.
#pragma once
#include "strip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

/// Calls f(first channel, lanes, number of packets) for runs of four packets of channels, then for single packets, last
/// for a packet that is only partly filled. The types of lanes and packets carry their values where these are constant.
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

}  // namespace detail::backend::cpu_kernels
}}  // namespace tern
