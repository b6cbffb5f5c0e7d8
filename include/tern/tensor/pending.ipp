// The functions of pending.hpp that are not templates.
#pragma once
#include "pending.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD CopyInFlight::~CopyInFlight() {
  copy.reset();  // later work of the device, releases included, runs after the copy
  release(host);
  release(device);
}

}}}  // namespace tern::detail
