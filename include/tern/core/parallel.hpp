// Threads. Loops run on a pool of our own (thread_pool.hpp), what oneDNN divides by itself on OpenMP's. Without
// -fopenmp all work runs on the calling thread.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>

#include "error.hpp"
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tern { inline namespace TERN_BUILD {

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

/// The limit of the process. OpenMP has a limit for each thread only.
TERN_API std::atomic<int>& thread_limit();
extern TERN_API constinit std::atomic<int> threads_in_use;
extern TERN_API constinit thread_local int
    leased_threads;  // how many threads this thread's lease holds; 0: it has no lease

}  // namespace detail

/// How many threads an operation may use, the calling thread included. Initially OMP_NUM_THREADS. If that is not set,
/// it is the least of three numbers: the processors that the process may use, their cores, and the quota of its control
/// group, which a container's limit sets, rounded up.
inline int get_num_threads() { return detail::thread_limit(); }

/// Sets get_num_threads() for the whole process. Error if n < 1.
inline void set_num_threads(int n) {
  if (n < 1) Error::fail("set_num_threads", {"at least one thread is needed, not ", n});
  detail::thread_limit() = n;
}

namespace detail {
/// While alive, this thread and a oneDNN call that it makes may use count() threads. Leases that exist at the same time
/// share get_num_threads(); one that finds none left has count() 1. Within a parallel region count() is 1. Within
/// another lease it is at most that lease's count().
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

/// While alive, everything that this thread calls runs on this thread. Workers of a loader use it.
class SerialRegion {
  ThreadLease lease_{1};
};

/// The part of parallel_for that is not a template: runs body(f, begin, end) on a team of threads.
TERN_API void run_chunks(Index n, Index grain, void (*body)(const void*, Index, Index), const void* f);

/// Calls f(begin, end) for the chunks [0, grain), [grain, 2 grain) … of [0, n), on several threads if there is more
/// than one chunk. The chunks do not depend on the number of threads, so sums kept for each chunk do not either. An
/// exception in f reaches the caller. If several chunks throw, one of the exceptions does.
template <class F>
void parallel_for(Index n, Index grain, const F& f) {
  if (n > grain)
    detail::run_chunks(
        n, grain, [](const void* g, Index begin, Index end) { (*static_cast<const F*>(g))(begin, end); }, &f);
  else if (n > 0) f(Index(0), n);
}
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "parallel.ipp"
#endif
