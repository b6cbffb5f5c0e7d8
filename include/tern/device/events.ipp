// What events.hpp declares and is no template.
#pragma once
#include "events.hpp"

namespace tern::inline TERN_BUILD::detail {

TERN_INLINE constinit thread_local DeviceEvents device_events{};

}  // namespace tern::detail
