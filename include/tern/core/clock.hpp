// Time. <chrono> costs a user's file 0.25 s of compilation.
#pragma once
#include <ctime>

#include "config.hpp"

namespace tern::inline TERN_BUILD {

/// Seconds of a clock that only goes forward.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

}  // namespace tern
