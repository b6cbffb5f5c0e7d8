// The functions of events.hpp that are not templates.
#pragma once
#include "events.hpp"

namespace tern::inline TERN_BUILD::detail {

TERN_INLINE constinit std::atomic<const RangeListener*> range_listener{nullptr};

TERN_INLINE constinit thread_local DeviceEvents device_events{};

}  // namespace tern::detail
