// Channels that lie side by side, as kernels of channels-last arrays walk over them.
#pragma once
#include "strip.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend::cpu {

/// f(first channel, lanes, number of packets as a type) for runs of four packets of channels, then for single ones.
template <class V, class F>
[[gnu::always_inline]] inline void each_channel_run(Index channels, const F& f) {
  Index c = 0;
  for (; c + 4 * V::size <= channels; c += 4 * V::size) f(c, V::size, std::integral_constant<int, 4>());
  for (; c < channels; c += V::size) f(c, int(std::min<Index>(V::size, channels - c)), std::integral_constant<int, 1>());
}

}  // namespace backend::cpu
}  // namespace TERN_ISA
}  // namespace tern
