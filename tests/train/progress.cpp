#include "support/printed.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <csignal>
#include <thread>

#include <tern/train/progress.hpp>

namespace train_progress {
using namespace tern;
using namespace tern_test;

TEST_CASE("a line of progress: bar, share, loss, rate and time left") {
  CHECK(train::progress_text(3, 15000, 60000, 0.25, 2) ==
        "epoch 3 [#######.......................]  25%  loss 0.2500  7500/s  6 s left");
  CHECK(train::progress_text(1, 10, 10, 1, 5) ==
        "epoch 1 [##############################] 100%  loss 1.0000  2/s  0 s left");
}

TEST_CASE("a bar of nothing divides by nothing, and none is longer than its frame") {
  const std::string empty = "epoch 1 [..............................]   0%  loss 0.0000  0/s  0 s left";
  CHECK(train::progress_text(1, 0, 0, 0, 0) == empty);
  CHECK(train::progress_text(1, 0, 10, 0, 0) == empty);
  CHECK(train::progress_text(1, 30, 20, 0, 1) ==
        "epoch 1 [##############################] 100%  loss 0.0000  30/s  0 s left");
}

TEST_CASE("without a terminal nothing is drawn") {
  const std::string text = printed([] {
    const train::Progress progress(1);
    CHECK(!progress.due());
  });
  CHECK(text == "");
}

TEST_CASE("on a terminal the line is redrawn in place, and removed at the end") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE((terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0));
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(end >= 0);
  const std::string text = printed_to(end, terminal, [] {
    train::Progress progress(2);
    CHECK(progress.due());
    progress.draw(5, 20, 0.5);
    CHECK(!progress.due());  // drawn just now
    progress.clear();
    std::printf("a report\n");
  });
  CHECK(text.find("\r\033[Kepoch 2 [#######.......................]  25%  loss 0.5000  ") == 0);
  CHECK(text.find("s left\r\033[Ka report") == text.rfind("s left"));  // and then nothing is removed
  CHECK(text.substr(text.size() - 10) == "a report\r\n");
}

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

}  // namespace train_progress
