// The functions of progress.hpp that are not templates.
#pragma once
#include <utility>

#include "../core/mutex_lock.hpp"
#include "progress.hpp"

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline]] TERN_INLINE std::string progress_text(Index epoch, Index done, Index total, double loss, double seconds) {
  constexpr int width = 30;
  const double part = total > 0 ? std::min(1.0, double(done) / double(total)) : 0;
  const int filled = int(width * part);
  const double rate = seconds > 0 ? double(done) / seconds : 0;
  char line[160];
  std::snprintf(line, sizeof line, "epoch %lld [%.*s%.*s] %3.0f%%  loss %.4f  %.0f/s  %.0f s left", (long long)epoch,
                filled, "##############################", width - filled, "..............................", 100 * part,
                loss, rate, rate > 0 && done < total ? double(total - done) / rate : 0.0);
  return line;
}

[[gnu::noinline]] TERN_INLINE bool Progress::due() const { return shows_ && now() - drawn_ >= 0.1; }

[[gnu::noinline, gnu::cold]] TERN_INLINE void Progress::draw(Index done, Index total, double loss) {
  drawn_ = now();
  is_drawn_ = true;
  std::printf("\r\033[K%s", progress_text(epoch_, done, total, loss, drawn_ - start_).c_str());
  std::fflush(stdout);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Progress::clear() {
  if (std::exchange(is_drawn_, false)) std::fputs("\r\033[K", stdout);
}

}  // namespace tern::train

namespace tern::inline TERN_BUILD::train::detail {

TERN_INLINE volatile std::sig_atomic_t interrupts = 0, last_interrupt = 0;

/// The guards that are alive, and what was there before the first one.
struct Guards {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int alive = 0;
  void (*interrupt)(int) = nullptr;
  void (*terminate)(int) = nullptr;

  static Guards& instance() {
    static Guards guards;
    return guards;
  }
};

}  // namespace tern::train::detail

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline, gnu::cold]] TERN_INLINE InterruptGuard::InterruptGuard() {
  detail::Guards& guards = detail::Guards::instance();
  const tern::detail::MutexLock lock(guards.mutex);
  if (guards.alive++ > 0) return;
  detail::interrupts = 0;
  guards.interrupt = std::signal(SIGINT, &detail::on_interrupt);
  guards.terminate = std::signal(SIGTERM, &detail::on_interrupt);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE InterruptGuard::~InterruptGuard() {
  detail::Guards& guards = detail::Guards::instance();
  const tern::detail::MutexLock lock(guards.mutex);
  if (--guards.alive > 0) return;
  std::signal(SIGINT, guards.interrupt);
  std::signal(SIGTERM, guards.terminate);
}

}  // namespace tern::train
