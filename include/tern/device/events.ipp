// The functions of events.hpp that are not templates.
#pragma once
#include "events.hpp"

namespace tern::inline TERN_BUILD::detail {

TERN_INLINE constinit std::atomic<const RangeListener*> range_listener{nullptr};

TERN_INLINE constinit thread_local DeviceEvents device_events{};

TERN_INLINE int thread_number() {
  static std::atomic<int> threads{0};
  static constinit thread_local int number = 0;
  if (!number) number = ++threads;
  return number;
}

}  // namespace tern::detail
