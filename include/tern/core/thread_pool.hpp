// The threads that parallel_for's chunks run on. OpenMP's would wait for each other at the end of every loop, also for
// one that has no core because other programs run, and would spin there, which takes the core from it.
#pragma once
#include <atomic>
#include <exception>

#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A parallel_for while it runs. Its chunks are divided into ranges of adjacent ones. A thread takes the chunks of a
/// range of its own, in order, so that loops of the same size touch the same memory on the same core. Then it takes
/// those that are left in others' ranges.
class ParallelLoop {
 public:
  using Body = void (*)(const void* f, Index begin, Index end);

  ParallelLoop(Index n, Index grain, Body body, const void* f)
      : n_(n), grain_(grain), body_(body), f_(f), caller_(outermost) {}

  /// Runs the chunks on this thread and on up to `threads` - 1 of the pool, and returns when all are done. Throws what
  /// a chunk threw.
  TERN_API void run(int threads);

  /// Takes chunks until none is left, those of range `first` before others', in the name of the caller's operation.
  void take_chunks(int first) noexcept;

 private:
  struct alignas(64) Range {
    std::atomic<Index> next;
    Index end;
  };
  static constexpr int max_ranges = 64;

  const Index n_, grain_;
  const Body body_;
  const void* const f_;
  const Outermost caller_;
  int ranges_ = 0;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  Range range_[max_ranges];
};

/// Before OpenMP's threads run a loop of oneDNN: the pool's threads that look for work sleep, and OpenMP's will not
/// spin for long after the loop, unless the environment says how long they shall.
TERN_API void yield_to_openmp();

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "thread_pool.ipp"
#endif
