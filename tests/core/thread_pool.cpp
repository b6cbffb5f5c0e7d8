// The pool's threads: a thread that does not come on holds up no chunk but its own, callers at once, errors, processes
// that fork.
#include <algorithm>
#include <tern/core/parallel.hpp>
#include <tern/core/thread_pool.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace core_thread_pool {
using namespace tern;

namespace {

/// Sets the number of threads for one test.
struct Threads {
  explicit Threads(int n) : before(get_num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before;
};

/// Σ of 0 … n - 1, by chunks.
Index sum_below(Index n) {
  std::atomic<Index> sum{0};
  detail::parallel_for(n, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) sum += i;
  });
  return sum;
}

}  // namespace

TEST_CASE("a thread that does not come on holds up its own chunk alone") {
  const Threads set(4);
  constexpr Index chunks = 100;
  std::atomic<Index> done{0};
  std::atomic<bool> waited{false}, complete{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  detail::parallel_for(chunks, 1, [&](Index, Index) {
    if (!waited.exchange(true))
      while (done < chunks - 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (++done == chunks) complete = true;
  });
#if defined(_OPENMP)
  CHECK(std::chrono::steady_clock::now() < end);
#endif
  CHECK(complete);
}

TEST_CASE("an Error of a chunk names the caller's operation and line on every thread") {
#if defined(_OPENMP)
  const Threads set(4);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> thrown{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const CallSite here;
  const CallScope scope({"op", here});
  const std::string error = tern_test::whole_error_of([&] {
    detail::parallel_for(4, 1, [&](Index, Index) {
      while (std::this_thread::get_id() == caller && !thrown && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      if (std::this_thread::get_id() == caller || thrown.exchange(true)) return;
      Error::fail("chunk", {"no"});
    });
  });
  CHECK(error == "op: no (thread_pool.cpp:" + std::to_string(here.line()) + ")");
#endif
}

TEST_CASE("short loops one after another, and callers at once, lose no chunk") {
  const Threads set(4);
  for (int i = 0; i < 2000; ++i) REQUIRE(sum_below(17) == 136);
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&] {
        for (int i = 0; i < 500; ++i) right += sum_below(17) == 136;
      });
  }
  CHECK(right == 1500);
}

TEST_CASE("threads that have slept come again") {
  const Threads set(3);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    REQUIRE(sum_below(100) == 4950);
  }
}

TEST_CASE("a loop in a process that was forked has threads of its own") {
  const Threads set(3);
  REQUIRE(sum_below(100) == 4950);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(sum_below(100) == 4950 ? 7 : 8);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

#if defined(_OPENMP) && !defined(__SANITIZE_THREAD__)
TEST_CASE("after one of its own loops, OpenMP is quiet", "[.][quiet_openmp]") {
  if (omp_get_num_procs() > 2 * get_num_threads()) return;  // there spinning threads hold up nobody
  double least = 1;  // of several: on a busy machine a thread may spin after its turn comes
  for (int i = 0; i < 5; ++i) {
    detail::yield_to_openmp();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp parallel
    asm volatile("");
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    least = std::min(least, double(std::clock() - before) / CLOCKS_PER_SEC);
  }
  CHECK(least < 2e-3);
}

TEST_CASE("OpenMP's threads do not spin for long where the environment does not ask for it") {
  const std::string command = "env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT -u KMP_BLOCKTIME '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' '[quiet_openmp]' > /dev/null";
  CHECK(std::system(command.c_str()) == 0);
}
#endif

TEST_CASE("an error of a chunk is thrown once, after the other threads have left the loop") {
  const Threads set(4);
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> inside{0};
    CHECK_THROWS_WITH(detail::parallel_for(64, 1,
                                           [&](Index chunk, Index) {
                                             ++inside;
                                             if (chunk % 9 == 5) --inside, throw Error("chunk");
                                             --inside;
                                           }),
                      "chunk");
    CHECK(inside == 0);
    CHECK(detail::threads_in_use == 0);
  }
}

}  // namespace core_thread_pool
