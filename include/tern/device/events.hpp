// What devices report of their work; profile/ reads it. Below the backends, so that they can write here without knowing who listens.
#pragma once
#include <cstddef>

#include "../core/here.hpp"

namespace tern::inline TERN_BUILD {

/// What a device is kept busy with, or keeps the host waiting for.
enum class Work : std::uint8_t { kernel, to_device, to_host, wait };

namespace detail {

/// This thread's totals.
struct DeviceEvents {
  double flops = 0;              // of matrix products
  std::int64_t products = 0;     // so many
  std::int64_t count[4] = {};    // of each kind of work
  std::int64_t bytes[4] = {};
  double host_seconds[4] = {};   // that the thread spent in the call: for copies and waits that are not part of another
  int open = 0;                  // copies and waits that have begun and not ended
};
extern TERN_API constinit thread_local DeviceEvents device_events;

}  // namespace detail
}  // namespace tern

#ifndef TERN_COMPILED
#include "events.ipp"
#endif
