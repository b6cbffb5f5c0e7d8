// Threads. OpenMP is the one pool, the same that oneDNN runs in; without -fopenmp all work stays on the calling thread.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <algorithm>
#include <atomic>
#include <exception>

#include "error.hpp"
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tern::inline TERN_BUILD {

namespace detail {

#if defined(_OPENMP)
inline bool may_start_team() { return !omp_in_parallel(); }
inline int openmp_threads() { return omp_get_max_threads(); }
inline void set_openmp_threads(int n) { omp_set_num_threads(n); }
#else
inline bool may_start_team() { return false; }
inline int openmp_threads() { return 1; }
inline void set_openmp_threads(int) {}
#endif

/// OpenMP's own limit is each thread's; this one is the process's.
inline std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{openmp_threads()};
  return limit;
}
inline constinit std::atomic<int> threads_in_use{0};
inline constinit thread_local int leased_threads = 0;  // of the lease this thread holds; 0: none

}  // namespace detail

/// How many threads an operation may use, calling thread included. At first what OpenMP says (OMP_NUM_THREADS).
inline int num_threads() { return detail::thread_limit(); }

/// Sets num_threads() for the whole process. Error if n < 1.
inline void set_num_threads(int n) {
  if (n < 1) fail("set_num_threads", {"at least one thread is needed, not ", n});
  detail::thread_limit() = n;
}

/// While alive, this thread may start teams of count() threads, and oneDNN, when called, does. Callers that come at the
/// same time share num_threads(): one who comes when all are taken gets itself. Within a parallel region count() is 1,
/// within another lease at most what that one has.
class ThreadLease {
 public:
  [[gnu::noinline]] explicit ThreadLease(int wanted)
      : outer_(detail::leased_threads), openmp_(detail::openmp_threads()) {
    if (!detail::may_start_team()) wanted = 1;
    else if (outer_) wanted = std::min(wanted, outer_);
    else if (wanted > 1) wanted = taken_ = take(wanted);
    count_ = detail::leased_threads = wanted;
    if (openmp_ != count_) detail::set_openmp_threads(count_);
  }
  [[gnu::noinline]] ~ThreadLease() {
    if (openmp_ != count_) detail::set_openmp_threads(openmp_);
    if (taken_) detail::threads_in_use.fetch_sub(taken_);
    detail::leased_threads = outer_;
  }
  ThreadLease(const ThreadLease&) = delete;
  ThreadLease& operator=(const ThreadLease&) = delete;

  int count() const { return count_; }

 private:
  [[gnu::noinline]] static int take(int wanted) {
    int used = detail::threads_in_use, count;
    do count = std::max(1, std::min(wanted, num_threads() - used));
    while (!detail::threads_in_use.compare_exchange_weak(used, used + count));
    return count;
  }

  int outer_, openmp_, count_, taken_ = 0;
};

/// While alive, everything this thread calls stays on it: for the workers of a loader.
class SerialRegion {
  ThreadLease lease_{1};
};

namespace detail {

/// parallel_for without its template: a team for body(f, begin, end).
[[gnu::noinline]] inline void run_chunks(Index n, Index grain, void (*body)(const void*, Index, Index), const void* f) {
  const Index chunks = (n + grain - 1) / grain;
  const ThreadLease lease(int(std::min<Index>(chunks, num_threads())));
  std::exception_ptr error;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(lease.count()) schedule(static) if (lease.count() > 1)
#endif
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    try {
      body(f, chunk * grain, std::min(n, (chunk + 1) * grain));
    } catch (...) {
#if defined(_OPENMP)
#pragma omp critical(tern_parallel_for)
#endif
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

/// Calls f(begin, end) for the chunks [0, grain), [grain, 2 grain) … of [0, n), on several threads if there is more than
/// one. The chunks do not depend on the number of threads, so neither do sums kept per chunk. An exception in f reaches
/// the caller (one of them, when chunks throw several).
template <class F>
void parallel_for(Index n, Index grain, const F& f) {
  if (n > grain)
    detail::run_chunks(
        n, grain, [](const void* g, Index begin, Index end) { (*static_cast<const F*>(g))(begin, end); }, &f);
  else if (n > 0) f(Index(0), n);
}

}  // namespace tern
