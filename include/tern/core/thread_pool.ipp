// The functions of thread_pool.hpp that are not templates.
#pragma once
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "mutex_lock.hpp"
#include "parallel.hpp"
#include "thread_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A thread of the pool.
struct alignas(64) PoolThread {
  enum State : int { running, finished, awaited };

  std::atomic<ParallelLoop*> loop{nullptr};  // for it to join; whoever exchanges it for null has it
  std::atomic<int> asleep{0};                // 1 while it sleeps or is about to
  int member = 0;                            // of the loop
  pthread_t id{};
  alignas(64) std::atomic<bool> claimed{false};  // by a caller
  std::atomic<int> state{finished};              // of the loop that it has joined

  void offer(ParallelLoop* work, int number);
  /// Takes the loop back, or waits until this thread has left it.
  void release(ParallelLoop* work);
  /// Joins loops until it is offered `end`.
  void live(const ParallelLoop* end);

 private:
  ParallelLoop* next_loop();
};

/// The process's threads. They are started when a loop first needs them, and joined when the process ends.
class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();

  /// Claims up to so many threads that no caller has. Starts those that are missing.
  int claim(int wanted, PoolThread** threads);

  /// How long a thread that waits spins, in seconds. A short loop follows another within it.
  double spin_seconds() const { return now() < contended_until_.load(std::memory_order_relaxed) ? 0 : 200e-6; }
  /// A thread that span was without a core: others need the cores for a while.
  void note_contention(double at) { contended_until_.store(at + 20e-3, std::memory_order_relaxed); }

  std::atomic<bool> resting{false};

 private:
  static constexpr int most = 1024;
  bool start();

  std::atomic<double> contended_until_{0};
  std::atomic<int> count_{0};
  std::atomic<bool> ended_{false};
  pthread_mutex_t starting_ = PTHREAD_MUTEX_INITIALIZER;
  ParallelLoop end_{0, 1, nullptr, nullptr};
  std::unique_ptr<PoolThread> threads_[most];
};

TERN_API ThreadPool& thread_pool();

TERN_INLINE long futex(std::atomic<int>& word, int operation, int value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

#if defined(_OPENMP)
/// Makes OpenMP's threads sleep soon after a loop. libgomp's spin for milliseconds as long as the process has no more
/// of them than it has processors; otherwise for 100 rounds (libgomp's manual, GOMP_SPINCOUNT). So a thread that only
/// sleeps gets a team of its own.
TERN_COLD bool calm_openmp() {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT") || std::getenv("KMP_BLOCKTIME")) return false;
#if defined(__clang__)
  kmp_set_blocktime(0);
#else
  const int processors = omp_get_num_procs(), missing = std::max(0, processors - get_num_threads());
  if (2 * missing > processors) return false;  // there are processors enough
  pthread_t thread;
  static int team;
  team = missing + 2;
  const auto sleep = [](void*) -> void* {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
#pragma omp parallel num_threads(team)
    asm volatile("");  // g++ makes no threads for an empty region
    for (;;) pause();
  };
  if (pthread_create(&thread, nullptr, sleep, nullptr)) return false;
  pthread_detach(thread);
#endif
  return true;
}
#endif

/// Spins until ready(), as long as the pool's threads may. False if it is not.
template <class F>
bool spin_until(ThreadPool& pool, const F& ready) {
  const double start = now(), end = start + pool.spin_seconds();
  for (double last = start;;) {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
    const double at = now();
    if (at - last > 100e-6) pool.note_contention(at);
    if (at >= end) return ready();
    last = at;
  }
}

TERN_NOINLINE void PoolThread::offer(ParallelLoop* work, int number) {
  member = number;
  state.store(running, std::memory_order_relaxed);
  loop.store(work);
  if (asleep.load() && asleep.exchange(0)) futex(asleep, FUTEX_WAKE, 1);
}

TERN_NOINLINE void PoolThread::release(ParallelLoop* work) {
  if (loop.exchange(nullptr) != work) {
    const auto has_left = [&] { return state.load(std::memory_order_acquire) == finished; };
    int expected = running;
    if (!spin_until(thread_pool(), has_left) && state.compare_exchange_strong(expected, awaited))
      while (!has_left()) futex(state, FUTEX_WAIT, awaited);
  }
  claimed.store(false, std::memory_order_release);
}

TERN_NOINLINE ParallelLoop* PoolThread::next_loop() {
  for (;;) {
    const auto offered = [&] { return loop.load(std::memory_order_relaxed) != nullptr; };
    ThreadPool& pool = thread_pool();
    spin_until(pool, [&] { return offered() || pool.resting.load(std::memory_order_relaxed); });
    while (!offered()) {
      asleep.store(1);
      if (!loop.load()) futex(asleep, FUTEX_WAIT, 1);
      asleep.store(0);
    }
    if (ParallelLoop* const work = loop.exchange(nullptr)) return work;
  }
}

TERN_NOINLINE void PoolThread::live(const ParallelLoop* end) {
  leased_threads = 1;
  set_openmp_threads(1);
  for (ParallelLoop* work; (work = next_loop()) != end;) {
    work->take_chunks(member);
    if (state.exchange(finished) == awaited) futex(state, FUTEX_WAKE, 1);
  }
}

TERN_NOINLINE bool ThreadPool::start() {
  const MutexLock lock(starting_);
  const int i = count_;
  if (i == most) return false;
  struct Given {
    PoolThread* thread;
    const ParallelLoop* end;
  };
  threads_[i] = std::make_unique<PoolThread>();
  const auto enter = [](void* given) -> void* {
    const auto [thread, end] = *std::unique_ptr<Given>(static_cast<Given*>(given));
    thread->live(end);
    return nullptr;
  };
  auto given = std::make_unique<Given>(Given{threads_[i].get(), &end_});
  if (pthread_create(&threads_[i]->id, nullptr, enter, given.get())) return false;
  given.release();
  count_ = i + 1;
  return true;
}

TERN_NOINLINE int ThreadPool::claim(int wanted, PoolThread** threads) {
  int found = 0;
  if (ended_) return 0;
  for (int i = 0; found < wanted && (i < count_ || start()); ++i)
    if (!threads_[i]->claimed.load(std::memory_order_relaxed) && !threads_[i]->claimed.exchange(true))
      threads[found++] = threads_[i].get();
  return found;
}

TERN_NOINLINE ThreadPool::~ThreadPool() {
  ended_ = true;
  for (int i = 0; i < count_; ++i) {
    PoolThread& thread = *threads_[i];
    if (thread.claimed.exchange(true)) {  // by a thread that goes on while the process ends
      pthread_detach(thread.id);
      threads_[i].release();
      continue;
    }
    thread.offer(&end_, 0);
    pthread_join(thread.id, nullptr);
  }
}

TERN_NOINLINE ThreadPool& thread_pool() {
  // A process that was forked has the memory of the threads, and not the threads.
  static constinit std::atomic<ThreadPool*> pool{nullptr};
  static struct Owner {
    Owner() {
      pool = new ThreadPool;
      pthread_atfork(nullptr, nullptr, [] { pool = new ThreadPool; });
    }
    ~Owner() { pool.load()->~ThreadPool(); }  // its memory stays: threads that go on ask it
  } owner;
  return *pool;
}

TERN_NOINLINE void yield_to_openmp() {
#if defined(_OPENMP)
  thread_pool().resting = true;
  static const bool calmed = calm_openmp();
  static_cast<void>(calmed);
#endif
}

TERN_NOINLINE void ParallelLoop::take_chunks(int first) noexcept {
  const OutermostScope scope(caller_);
  for (int k = 0; k < ranges_; ++k) {
    Range& range = range_[(first + k) % ranges_];
    while (range.next.load(std::memory_order_relaxed) < range.end) {
      const Index chunk = range.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= range.end) break;
      try {
        body_(f_, chunk * grain_, std::min(n_, (chunk + 1) * grain_));
      } catch (...) {
        if (!failed_.exchange(true)) error_ = std::current_exception();
      }
    }
  }
}

TERN_NOINLINE void ParallelLoop::run(int threads) {
  const Index chunks = (n_ + grain_ - 1) / grain_;
  ranges_ = std::min(threads, max_ranges);
  for (int i = 0; i < ranges_; ++i) range_[i].next = i * chunks / ranges_, range_[i].end = (i + 1) * chunks / ranges_;
  ThreadPool& pool = thread_pool();
  if (pool.resting.load(std::memory_order_relaxed)) pool.resting = false;
  std::vector<PoolThread*> helpers(std::size_t(threads - 1));
  helpers.resize(std::size_t(pool.claim(threads - 1, helpers.data())));
  int member = 0;
  for (PoolThread* helper : helpers) helper->offer(this, ++member);
  {
    const ThreadLease alone(1);  // what a chunk calls stays on its thread
    take_chunks(0);
  }
  for (PoolThread* helper : helpers) helper->release(this);
  if (failed_) std::rethrow_exception(error_);
}

}}}  // namespace tern::detail
