// Division of gradients by a scale, and the search for what is not finite among them.
#pragma once
#include "../unscale.hpp"
#include "loops/strip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Unscale& op) {
  using namespace cpu_kernels;
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  const V inverse(C(1 / double(*op.scale.as<float>())));
  for (int i = 0; i < op.count; ++i) {
    const Array& gradient = *op.gradients[i];
    detail::parallel_for(gradient.numel, 2 * parallel_grain, [&](Index first, Index last) {
      T* const g = gradient.as<T>() + first;
      V sum(0);  // of 0 for each finite element, and NaN for each other
      Strip<V>::along_row(last - first).each([&](Index at, int lanes) __attribute__((always_inline)) {
        const V v = load_lanes<V>(g + at, lanes, 0);
        sum += v - v;
        store_lanes(g + at, lanes, v * inverse);
      });
      C lane[V::size];
      sum.store(lane);
      for (const C each : lane)
        if (each != 0) __atomic_store_n(op.found.as<std::uint32_t>(), 0x3f800000u, __ATOMIC_RELAXED);  // 1.0f
    });
  }
}

}  // namespace detail::backend
}}  // namespace tern
