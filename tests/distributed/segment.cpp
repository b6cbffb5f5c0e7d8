#include "support/errors.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <tern/core/clock.hpp>
#include <tern/distributed/segment.hpp>

namespace distributed_segment {
using namespace tern;
using distributed::detail::Call;
using distributed::detail::Segment;
using distributed::detail::SharedMemory;
using tern_test::error_of;

namespace {

/// What the parent, rank 0, says of a meeting with a child process, rank 1, that does this.
template <class F>
std::string beside_process(const F& f) {
  const std::string name = detail::text({"/tern-test-", Index(getpid())});
  const auto memory = std::make_shared<SharedMemory>(name, Segment::bytes_for(2), true);
  const pid_t child = fork();
  if (child == 0) {
    const auto same = std::make_shared<SharedMemory>(name, Segment::bytes_for(2), false);
    Segment mine(same, 1, {0, 1});
    mine.meet("barrier", 10);
    f(mine);
    _exit(0);
  }
  std::string said;
  {
    Segment mine(memory, 0, {0, 1});
    mine.meet("barrier", 10);
    memory->unlink();
    // A killed child stays a process until it is waited for, as mpirun waits for its ranks.
    said = error_of([&] {
      try {
        mine.meet("barrier", 0.3);
      } catch (const Error&) {
        waitpid(child, nullptr, 0);
        mine.meet("barrier", 0.3);
      }
    });
  }
  waitpid(child, nullptr, 0);
  return said;
}

}  // namespace

TEST_CASE("processes meet in shared memory, and one that dies is named", "[distributed]") {
  CHECK(beside_process([](Segment& mine) { mine.meet("barrier", 10); }).empty());
  CHECK(beside_process([](Segment&) { std::raise(SIGKILL); }) == "barrier: rank 0 waits for rank 1, which has died");
}

TEST_CASE("shared memory has a name until it is unlinked", "[distributed]") {
  const std::string name = detail::text({"/tern-test-name-", Index(getpid())});
  const SharedMemory first(name, 4096, true);
  first.data()[4095] = 7;
  CHECK(SharedMemory(name, 4096, false).data()[4095] == 7);
  CHECK(error_of([&] { SharedMemory(name, 4096, true); }).ends_with("File exists"));
  first.unlink();
  CHECK(error_of([&] { SharedMemory(name, 4096, false); }).ends_with("No such file or directory"));
}

}  // namespace distributed_segment
