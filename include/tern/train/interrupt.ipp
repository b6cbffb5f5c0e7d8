// The functions of interrupt.hpp that are not templates.
#pragma once
#include <signal.h>
#include <memory>

#include "../core/mutex_lock.hpp"
#include "interrupt.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train::detail {

TERN_INLINE volatile std::sig_atomic_t interrupts = 0, last_interrupt = 0;

/// A stack for the signal handlers of a thread that has none for them yet. oneDNN's kernel for products of floats, up
/// to version 3.11 (its issue 4845), points the stack pointer at a buffer on the heap: a handler's frame would
/// overwrite what lies below that.
class SignalStack {
 public:
  SignalStack() {
    stack_t before;
    if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE)) return;
    constexpr std::size_t bytes = 64 << 10;  // six times what the kernel stores of a processor with AMX
    memory_ = std::make_unique<char[]>(bytes);
    stack_t own = {};
    own.ss_sp = memory_.get();
    own.ss_size = bytes;
    sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    if (memory_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

/// The guards that are alive, and what was there before the first one.
struct Guards {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int alive = 0;
  struct sigaction interrupt, terminate;

  static Guards& instance() {
    static Guards guards;
    return guards;
  }
};

}}}  // namespace tern::train::detail

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD InterruptGuard::InterruptGuard() {
  static thread_local const detail::SignalStack stack;
  detail::Guards& guards = detail::Guards::instance();
  const tern::detail::MutexLock lock(guards.mutex);
  if (guards.alive++ > 0) return;
  detail::interrupts = 0;
  struct sigaction ours = {};
  ours.sa_handler = &detail::on_interrupt;
  ours.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGINT, &ours, &guards.interrupt);
  sigaction(SIGTERM, &ours, &guards.terminate);
}

TERN_COLD InterruptGuard::~InterruptGuard() {
  detail::Guards& guards = detail::Guards::instance();
  const tern::detail::MutexLock lock(guards.mutex);
  if (--guards.alive > 0) return;
  sigaction(SIGINT, &guards.interrupt, nullptr);
  sigaction(SIGTERM, &guards.terminate, nullptr);
}

}}}  // namespace tern::train
