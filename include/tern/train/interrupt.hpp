// Ctrl-C and SIGTERM end a training in good order.
#pragma once
#include <csignal>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

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
#include "interrupt.ipp"
#endif
