// NVRTC lets one thread of a process compile at a time: many kernels are compiled by several processes.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <thread>

namespace tern_test {

/// Calls f(k), which says whether all is well, for k < n, by forks of this process, one a processor. Returns how many
/// calls were not well; those that a fork did not come to are among them.
template <class F>
std::size_t failures_in_processes(std::size_t n, const F& f) {
  const std::size_t processes = std::max(1u, std::thread::hardware_concurrency());
  int ends[2];
  if (pipe(ends) != 0) return n;
  std::fflush(stdout);
  const auto share = [&](std::size_t first) noexcept {  // what it throws must not run on in the fork
    for (std::size_t k = first; k < n; k += processes)
      if (f(k) && write(ends[1], "", 1) != 1) break;
    std::fflush(stdout);
    _exit(0);
  };
  for (std::size_t first = 0; first < processes; ++first)
    if (fork() == 0) share(first);
  ::close(ends[1]);
  std::size_t well = 0;
  char part[4096];
  for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;) well += std::size_t(count);
  ::close(ends[0]);
  while (wait(nullptr) > 0) {}
  return n - well;
}

}  // namespace tern_test
