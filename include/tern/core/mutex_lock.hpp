// A lock of a POSIX mutex. <mutex> would add to the compilation of every trainer.
#pragma once
#include <pthread.h>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Holds the mutex while alive.
class MutexLock {
 public:
  explicit MutexLock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~MutexLock() { pthread_mutex_unlock(&mutex_); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}}}  // namespace tern::detail
