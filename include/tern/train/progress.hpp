// A line that shows how far an epoch is; and Ctrl-C, which ends a training in good order.
#pragma once
#include <csignal>
#include <cstdio>
#include <unistd.h>

#include "../core/clock.hpp"
#include "../core/error.hpp"

namespace tern::train {

/// On a terminal a bar with rate and time left, redrawn in place; elsewhere nothing: the receipts are plain lines.
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
    const double time = drawn_ = now();
    constexpr int width = 30;
    const int filled = int(width * done / (total_ > 0 ? total_ : 1));
    const double rate = double(done) / (time - start_ + 1e-9);
    std::printf("\r\033[Kepoch %lld [%.*s%.*s] %3.0f%%  loss %.4f  %.0f/s  %.0f s left", (long long)epoch_, filled,
                "##############################", width - filled, "..............................", 100.0 * double(done) / double(total_),
                loss, rate, double(total_ - done) / rate);
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
