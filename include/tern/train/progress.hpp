// A progress line for the epoch, and Ctrl-C and SIGTERM, which end a training in good order.
#pragma once
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "../core/clock.hpp"
#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// One line for `done` of `total` samples after that many seconds: a bar, the percentage, loss, rate and time left.
TERN_API std::string progress_text(Index epoch, Index done, Index total, double loss, double seconds);

/// On a terminal, a progress line that is redrawn in place. Elsewhere it writes nothing, because epoch reports are
/// plain lines.
class TERN_API Progress {
 public:
  explicit Progress(Index epoch, bool shows = true)
      : epoch_(epoch), start_(tern::detail::now()), shows_(shows && isatty(STDOUT_FILENO)) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True ten times a second on a terminal.
  bool due() const;

  /// Draws the line for `done` of `total` samples.
  void draw(Index done, Index total, double loss);

  /// Removes the line, so that others can be printed.
  void clear();

 private:
  Index epoch_;
  double start_, drawn_ = 0;
  bool shows_, is_drawn_ = false;
};

namespace detail {
extern TERN_API volatile std::sig_atomic_t interrupts,
    last_interrupt;  // how many there were, and the last one's signal
inline void on_interrupt(int signal) {
  last_interrupt = signal;
  interrupts = interrupts + 1;
  if (interrupts > 1) std::signal(signal, SIG_DFL);  // the third Ctrl-C ends the program at once
}
}  // namespace detail

/// While alive, Ctrl-C and SIGTERM, which a machine that is taken back sends, only set a flag, so that the current
/// batch is finished and saved. Several at a time, of trainings on threads, see one flag.
class TERN_API InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// The signal that has come, else 0.
  int interrupted() const { return detail::interrupts > 0 ? detail::last_interrupt : 0; }
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "progress.ipp"
#endif
