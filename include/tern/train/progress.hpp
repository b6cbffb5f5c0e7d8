// A line that shows how far an epoch is; and Ctrl-C, which ends a training in good order.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "../core/clock.hpp"
#include "../core/error.hpp"

namespace tern::inline TERN_BUILD::train {

/// `done` of `total` samples of an epoch after so many seconds, as one line: a bar, the share, loss, rate and time
/// left.
[[gnu::noinline]] inline std::string progress_text(Index epoch, Index done, Index total, double loss, double seconds) {
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

/// On a terminal the line of an epoch, redrawn in place; elsewhere nothing: the receipts are plain lines.
class Progress {
 public:
  Progress(Index total, Index epoch) : total_(total), epoch_(epoch), start_(now()), shows_(isatty(STDOUT_FILENO)) {}
  ~Progress() {
    if (shows_) std::fputs("\r\033[K", stdout);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True ten times a second, where there is a terminal.
  [[gnu::noinline]] bool due() const { return shows_ && now() - drawn_ >= 0.1; }

  /// So many samples are done.
  [[gnu::noinline, gnu::cold]] void draw(Index done, double loss) {
    drawn_ = now();
    std::printf("\r\033[K%s", progress_text(epoch_, done, total_, loss, drawn_ - start_).c_str());
    std::fflush(stdout);
  }

 private:
  Index total_, epoch_;
  double start_, drawn_ = 0;
  bool shows_;
};

namespace detail {
inline volatile std::sig_atomic_t interrupts = 0;
inline void on_interrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) std::signal(SIGINT, SIG_DFL);  // the third ends the program at once
}
}  // namespace detail

/// While alive, Ctrl-C only sets a flag, so that the batch under way is finished and saved.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, &detail::on_interrupt)) { detail::interrupts = 0; }
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const { return detail::interrupts > 0; }

 private:
  void (*before_)(int);
};

}  // namespace tern::train
