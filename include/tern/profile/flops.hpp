// How much arithmetic was done, and how fast this machine could do it.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/parallel.hpp"
#include "../device/events.hpp"
#include "../expr/packet.hpp"

namespace tern::inline TERN_BUILD::profile {

/// Floating-point operations of the matrix products that this thread has started.
inline double flops() { return detail::device_events.flops; }

/// Seconds that this thread has spent starting copies between host and device, and waiting for a device; a copy that it waits for to be
/// done counts as waiting.
inline double transfer_seconds() {
  const auto& seconds = detail::device_events.host_seconds;
  return seconds[int(Work::to_device)] + seconds[int(Work::to_host)];
}
inline double wait_seconds() { return detail::device_events.host_seconds[int(Work::wait)]; }


namespace detail {

/// Runs independent chains of multiply-adds, one for each k. Constant indices keep them in registers at any level of optimisation.
#if !defined(__clang__)
// g++ contracts a product and a sum into one instruction only from -O2 on.
#define TERN_CONTRACTED [[gnu::noinline, gnu::optimize("O2")]]
#else
#define TERN_CONTRACTED
#endif
template <int... k>
TERN_CONTRACTED void multiply_add_chains(Index rounds, std::integer_sequence<int, k...>) {
  using V = expr::Packet<float>::Native;
  V a = V{} + 0.5f, b = V{} + 1.f, sum[] = {V{} + float(k)...};
  // Out of the compiler's sight: else equal chains would become one, and sums constants.
  asm volatile("" : "+m"(a), "+m"(b));
  (..., [](V& s) { asm volatile("" : "+m"(s)); }(sum[k]));
  const V factor = a, term = b;
  for (Index i = 0; i < rounds; ++i) (..., (sum[k] = sum[k] * factor + term));
  (..., [](V& s) { asm volatile("" : : "m"(s)); }(sum[k]));
}
#undef TERN_CONTRACTED

}  // namespace detail

/// Fused multiply-adds of floats a second on all threads, in operations (two each): the peak that products are held against.
/// Measured, in about 30 ms.
TERN_API double peak_flops();

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "flops.ipp"
#endif
