// The functions of pending.hpp that are not templates.
#pragma once
#include "pending.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE CopyInFlight::~CopyInFlight() {
  copy.reset();  // later work of the device, releases included, runs after the copy
  release(host);
  release(device);
}

}  // namespace tern::detail
