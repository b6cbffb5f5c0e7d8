// The tests' main: Catch2's runner, then the line that tests/run reads.
#define CATCH_CONFIG_RUNNER  // makes version 2 compile its implementation here
#include "support/catch.hpp"

#include <cstdio>

namespace {

int passed = 0, failed = 0, skipped = 0;

#if CATCH2_MAJOR >= 3
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

struct CountCases : Listener {
  using Listener::Listener;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ++(stats.totals.testCases.failed ? failed : tern_test::skipped ? skipped : passed);
    tern_test::skipped = false;
  }
  // Also where the run is ended by a signal: that counts as a failure of the case it meets.
  void testRunEnded(const Catch::TestRunStats&) override {
    std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(CountCases)

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int status = session.applyCommandLine(argc, argv)) return status;
  session.run();
  return failed ? 1 : 0;
}
