// How much arithmetic was done, and how fast this machine could do it.
#pragma once
#include <algorithm>
#include <vector>

#include "../backend/devices.hpp"
#include "../backend/multiply_adds.hpp"
#include "../core/clock.hpp"
#include "../core/parallel.hpp"
#include "../device/events.hpp"

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

/// Fused multiply-adds of floats a second on all threads, in operations (two each): the peak that products are held against.
/// Measured, in about 30 ms.
TERN_API double peak_flops();

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "flops.ipp"
#endif
