// The functions of background.hpp that are not templates.
#pragma once
#include <utility>

#include "../core/mutex_lock.hpp"
#include "../core/parallel.hpp"
#include "background.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD Background::~Background() {
  {
    const tern::detail::MutexLock lock(mutex_);
    stopped_ = true;
    pthread_cond_signal(&given_);
  }
  if (started_) pthread_join(thread_, nullptr);
  pthread_cond_destroy(&given_);
  pthread_cond_destroy(&done_);
  pthread_mutex_destroy(&mutex_);
}

TERN_INLINE void* Background::enter(void* self) {
  const tern::detail::SerialRegion serial;  // the program's threads compute meanwhile
  static_cast<Background*>(self)->work();
  return nullptr;
}

TERN_NOINLINE void Background::give(std::shared_ptr<Job> job) {
  const tern::detail::MutexLock lock(mutex_);
  if (!started_ && pthread_create(&thread_, nullptr, &Background::enter, this) != 0)
    Error::fail("Communicator", {"the system gives no more threads"});
  started_ = true;
  jobs_.push_back(std::move(job));
  pthread_cond_signal(&given_);
}

TERN_NOINLINE void Background::work() {
  const tern::detail::MutexLock lock(mutex_);
  for (;;) {
    while (jobs_.empty() && !stopped_) pthread_cond_wait(&given_, &mutex_);
    if (jobs_.empty()) return;
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = true;
    pthread_mutex_unlock(&mutex_);
    std::exception_ptr error;
    try {
      job->run();
    } catch (...) { error = std::current_exception(); }
    pthread_mutex_lock(&mutex_);
    job->error_ = error;
    job->done_ = true;
    running_ = false;
    pthread_cond_broadcast(&done_);
  }
}

TERN_NOINLINE bool Background::is_done(const Job& job) {
  const tern::detail::MutexLock lock(mutex_);
  return job.done_;
}

TERN_NOINLINE void Background::wait(Job& job) {
  const tern::detail::MutexLock lock(mutex_);
  if (!job.done_) {
    const Exchange listed(tern::detail::Work::wait, "wait for a collective");
    while (!job.done_) pthread_cond_wait(&done_, &mutex_);
  }
  if (job.error_) std::rethrow_exception(std::exchange(job.error_, nullptr));
}

TERN_NOINLINE void Background::drain() {
  if (!started_) return;
  const tern::detail::MutexLock lock(mutex_);
  if (!running_ && jobs_.empty()) return;
  const Exchange listed(tern::detail::Work::wait, "wait for collectives");
  while (running_ || !jobs_.empty()) pthread_cond_wait(&done_, &mutex_);
}

}}}  // namespace tern::distributed::detail
