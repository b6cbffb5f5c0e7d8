#include "support/printed.hpp"

#include <sys/wait.h>
#include <csignal>
#include <thread>

#include <tern/train/interrupt.hpp>

namespace train_interrupt {
using namespace tern;
using namespace tern_test;

TEST_CASE("Ctrl-C sets a flag while a guard is alive, and what was there before comes back") {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const train::InterruptGuard guard;
    CHECK(!guard.interrupted());
    std::raise(SIGINT);
    CHECK(guard.interrupted() == SIGINT);
  }
  {
    const train::InterruptGuard guard;
    std::raise(SIGTERM);
    CHECK(guard.interrupted() == SIGTERM);
  }
  {
    const train::InterruptGuard next;
    CHECK(!next.interrupted());
  }
  CHECK(std::signal(SIGINT, before) == SIG_IGN);
}

TEST_CASE("signals are handled on a stack of their own, because oneDNN's kernels point the stack pointer at the heap") {
  std::thread([] {  // which has no such stack yet
    const train::InterruptGuard guard;
    stack_t stack;
    REQUIRE(sigaltstack(nullptr, &stack) == 0);
    CHECK((stack.ss_flags & SS_DISABLE) == 0);
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction handler;
      REQUIRE(sigaction(signal, nullptr, &handler) == 0);
      CHECK((handler.sa_flags & SA_ONSTACK) != 0);
      CHECK((handler.sa_flags & SA_RESTART) != 0);
    }
  })
      .join();
}

TEST_CASE("the third Ctrl-C ends the program at once") {
  const pid_t child = fork();
  if (child == 0) {
    const train::InterruptGuard guard;
    std::raise(SIGINT);
    std::raise(SIGINT);
    std::raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
}

}  // namespace train_interrupt
