// The clock. <chrono> would add 0.25 s to the compilation of a user's file.
#pragma once
#include <ctime>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Seconds of a monotonic clock.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

}}}  // namespace tern::detail
