// Time, for what the examples measure.
#pragma once
#include <chrono>

namespace support {

/// Seconds of a monotonic clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace support
