// How much arithmetic was done, and how fast this machine could do it.
#pragma once
#include "../core/clock.hpp"
#include "../core/parallel.hpp"
#include "../device/events.hpp"
#include "../expr/packet.hpp"

namespace tern::profile {

/// Floating-point operations of the matrix products that this thread has started.
inline double flops() { return detail::device_events.flops; }

inline namespace TERN_ISA {

/// Fused multiply-adds of floats a second on all threads, in operations (two each): the peak that products are held against.
/// Measured, in about 30 ms.
[[gnu::noinline]] inline double peak_flops() {
  using V = expr::Packet<float>;
  constexpr int chains = 12;  // enough independent ones to hide the latency
  constexpr Index rounds = 20000;
  const int threads = num_threads();
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = now();
    parallel_for(threads, 1, [&](Index, Index) {
      V sum[chains];
      for (int k = 0; k < chains; ++k) sum[k] = V(float(k));
      V a(0.999f), b(0.001f);
      for (Index i = 0; i < rounds; ++i) {
        for (V& s : sum) s = multiply_add(s, a, b);
        asm volatile("" : "+m"(a), "+m"(b));
      }
      for (V& s : sum) asm volatile("" : : "m"(s));
    });
    const double rate = 2.0 * V::size * chains * double(rounds) * threads / (now() - start);
    if (rate > best) best = rate;
  }
  return best;
}

}  // namespace TERN_ISA
}  // namespace tern::profile
