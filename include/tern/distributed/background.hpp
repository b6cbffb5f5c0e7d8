// A thread on which a communicator's collectives run while the program computes. MPI's own make no progress in the
// background.
#pragma once
#include <pthread.h>

#include <deque>
#include <exception>
#include <memory>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// Work for the thread. One owner waits for it.
class Job {
 public:
  virtual ~Job() {}
  virtual void run() = 0;

 private:
  friend class Background;
  std::exception_ptr error_;
  bool done_ = false;
};

/// Runs jobs in the order in which they are given. The thread starts with the first one.
class TERN_API Background {
 public:
  Background() {}
  /// Runs what is left, and ends.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void give(std::shared_ptr<Job> job);
  bool is_done(const Job& job);
  /// Throws what the job threw.
  void wait(Job& job);
  /// Waits until there is no job.
  void drain();

 private:
  static void* enter(void* self);
  void work();

  pthread_t thread_{};
  bool started_ = false, stopped_ = false, running_ = false;
  std::deque<std::shared_ptr<Job>> jobs_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t given_ = PTHREAD_COND_INITIALIZER, done_ = PTHREAD_COND_INITIALIZER;
};

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "background.ipp"
#endif
