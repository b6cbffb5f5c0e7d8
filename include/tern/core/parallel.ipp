// The functions of parallel.hpp that are not templates.
#pragma once
#include <cstdlib>

#include "parallel.hpp"
#include "processors.hpp"
#include "thread_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD int default_threads() {
  const int openmp = openmp_threads();
  return openmp == 1 || std::getenv("OMP_NUM_THREADS") ? openmp : std::min(openmp, processors().threads());
}

TERN_INLINE std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{default_threads()};
  return limit;
}

TERN_INLINE constinit std::atomic<int> threads_in_use{0};

TERN_INLINE constinit thread_local int leased_threads = 0;

TERN_NOINLINE ThreadLease::ThreadLease(int wanted) : outer_(leased_threads), openmp_(openmp_threads()) {
  if (!may_start_team()) wanted = 1;
  else if (outer_) wanted = std::min(wanted, outer_);
  else if (wanted > 1) wanted = taken_ = take(wanted);
  count_ = leased_threads = wanted;
  if (openmp_ != count_) set_openmp_threads(count_);
}

TERN_NOINLINE ThreadLease::~ThreadLease() {
  if (openmp_ != count_) set_openmp_threads(openmp_);
  if (taken_) threads_in_use.fetch_sub(taken_);
  leased_threads = outer_;
}

TERN_NOINLINE int ThreadLease::take(int wanted) {
  int used = threads_in_use, count;
  do count = std::max(1, std::min(wanted, get_num_threads() - used));
  while (!threads_in_use.compare_exchange_weak(used, used + count));
  return count;
}

TERN_NOINLINE void run_chunks(Index n, Index grain, void (*body)(const void*, Index, Index), const void* f) {
  const Index chunks = (n + grain - 1) / grain;
  const ThreadLease lease(int(std::min<Index>(chunks, get_num_threads())));
  if (lease.count() > 1) return ParallelLoop(n, grain, body, f).run(lease.count());
  for (Index chunk = 0; chunk < chunks; ++chunk) body(f, chunk * grain, std::min(n, (chunk + 1) * grain));
}

}}}  // namespace tern::detail
