// What devices report of their work; profile/ reads it. Below the backends, so that they can write here without knowing who listens.
#pragma once

namespace tern::detail {

/// This thread's totals.
struct DeviceEvents {
  double flops = 0;  // of matrix products
};
inline constinit thread_local DeviceEvents device_events{};

}  // namespace tern::detail
