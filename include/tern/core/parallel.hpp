// Threads. OpenMP is the one pool, the same that oneDNN runs in; without -fopenmp all work stays on the calling thread.
#pragma once
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
extern TERN_API constinit std::atomic<int> threads_in_use;
extern TERN_API constinit thread_local int leased_threads;  // of the lease this thread holds; 0: none

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
class TERN_API ThreadLease {
 public:
  explicit ThreadLease(int wanted);
  ~ThreadLease();
  ThreadLease(const ThreadLease&) = delete;
  ThreadLease& operator=(const ThreadLease&) = delete;

  int count() const { return count_; }

 private:
  static int take(int wanted);

  int outer_, openmp_, count_, taken_ = 0;
};

/// While alive, everything this thread calls stays on it: for the workers of a loader.
class SerialRegion {
  ThreadLease lease_{1};
};

namespace detail {

/// parallel_for without its template: a team for body(f, begin, end).
TERN_API void run_chunks(Index n, Index grain, void (*body)(const void*, Index, Index), const void* f);

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

#ifndef TERN_COMPILED
#include "parallel.ipp"
#endif
