// How many threads this machine has processors for.
#pragma once
#include <string>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// What limits the number of threads. OpenMP sees the first alone.
struct Processors {
  int affinity;  // processors that the process may run on
  int quota;     // of its control group, as a container's limit sets it, rounded up; 0: none
  int cores;     // of these processors: two hardware threads of a core share its arithmetic

  /// The least of the three.
  TERN_API int threads() const;
  /// Which of the three it is, as a part of a sentence.
  TERN_API const char* reason() const;
};

TERN_API Processors processors();

/// The quota that the files of control groups (version 1 or 2) under `root`/sys/fs/cgroup give the process that
/// `root`/proc/self/cgroup describes, in processors; 0: none.
TERN_API double control_group_quota(const std::string& root);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "processors.ipp"
#endif
