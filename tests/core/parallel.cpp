#include <tern/core/parallel.hpp>

#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace core_parallel {
using namespace tern;

namespace {

#if defined(_OPENMP)
constexpr bool with_openmp = true;
#else
constexpr bool with_openmp = false;  // everything stays on the calling thread
#endif

/// Sets the number of threads for one test.
struct Threads {
  explicit Threads(int n) : before(get_num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before;
};

std::set<std::pair<Index, Index>> chunks_of(Index n, Index grain) {
  std::mutex mutex;
  std::set<std::pair<Index, Index>> chunks;
  detail::parallel_for(n, grain, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    CHECK(chunks.emplace(begin, end).second);
  });
  return chunks;
}

/// The threads that the chunks run on.
std::set<std::thread::id> threads_of(Index n, Index grain) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  detail::parallel_for(n, grain, [&](Index, Index) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  return ids;
}

/// The threads that come to a loop whose chunks wait for so many.
std::size_t threads_that_meet(int count) {
  std::barrier meet(count);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  detail::parallel_for(count, 1, [&](Index, Index) {
    meet.arrive_and_wait();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  return ids.size();
}

}  // namespace

TEST_CASE("parallel_for covers the range once, in chunks that do not depend on the threads") {
  for (Index n : {0, 1, 2, 7, 8, 9, 1000}) {
    for (Index grain : {1, 3, 8, 2000}) {
      std::set<std::pair<Index, Index>> expected;
      for (Index i = 0; i < n; i += grain) expected.emplace(i, std::min(n, i + grain));
      for (int threads : {1, 2, 5}) {
        const Threads set(threads);
        CHECK(chunks_of(n, grain) == expected);
      }
    }
  }
}

TEST_CASE("parallel_for uses as many threads as set, and one for small work") {
  for (int threads : {1, 2, 5}) {
    const Threads set(threads);
    CHECK(get_num_threads() == threads);
    CHECK(threads_of(100, 1).size() <= std::size_t(with_openmp ? threads : 1));
    if (with_openmp) CHECK(threads_that_meet(threads) == std::size_t(threads));
  }
  const Threads set(4);
  const std::set<std::thread::id> self{std::this_thread::get_id()};
  CHECK(threads_of(100, 100) == self);
}

TEST_CASE("set_num_threads refuses less than one") {
  CHECK(tern_test::error_of([] { set_num_threads(0); }) == "set_num_threads: at least one thread is needed, not 0");
  CHECK_THROWS_AS(set_num_threads(-3), Error);
}

TEST_CASE("work inside a parallel region stays on its thread") {
  const Threads set(3);
  detail::parallel_for(30, 1, [](Index, Index) {
    const detail::ThreadLease lease(3);
    const auto inner = threads_of(10, 1);
    const bool stayed = inner == std::set<std::thread::id>{std::this_thread::get_id()};
    if (lease.count() != 1 || !stayed) throw Error("left its thread");
  });
}

TEST_CASE("a serial region keeps everything on the thread, and ends") {
  const Threads set(3);
  const std::set<std::thread::id> self{std::this_thread::get_id()};
  {
    const detail::SerialRegion serial;
    CHECK(threads_of(100, 1) == self);
    CHECK(detail::ThreadLease(3).count() == 1);
  }
  CHECK(detail::ThreadLease(3).count() == (with_openmp ? 3 : 1));
}

TEST_CASE("a lease bounds the leases inside it and OpenMP's own regions") {
  const Threads set(4);
  const int before = detail::openmp_threads();
  {
    const detail::ThreadLease outer(2);
    CHECK(outer.count() == (with_openmp ? 2 : 1));
    CHECK(detail::ThreadLease(4).count() == outer.count());
    CHECK(detail::openmp_threads() == outer.count());
  }
  CHECK(detail::openmp_threads() == before);
  CHECK(detail::threads_in_use == 0);
}

TEST_CASE("callers that come at once share the threads") {
  const Threads set(8);
  constexpr int callers = 4;
  std::barrier meet(callers);
  std::atomic<int> total{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&] {
        meet.arrive_and_wait();
        const detail::ThreadLease lease(get_num_threads());
        total += lease.count();
        meet.arrive_and_wait();
      });
  }
  CHECK(total >= (with_openmp ? 8 : callers));
  CHECK(total <= (with_openmp ? 8 + callers - 1 : callers));
  CHECK(detail::threads_in_use == 0);
}

TEST_CASE("an exception reaches the caller, from whichever thread") {
  for (int threads : {1, 3}) {
    const Threads set(threads);
    for (Index bad : {0, 57, 99})
      CHECK_THROWS_WITH(detail::parallel_for(100, 1,
                                             [&](Index i, Index) {
                                               if (i == bad) throw Error("chunk");
                                             }),
                        "chunk");
    CHECK_THROWS_AS(detail::parallel_for(1, 10, [](Index, Index) { throw Error("small"); }), Error);
    CHECK(detail::threads_in_use == 0);
  }
}

}  // namespace core_parallel
