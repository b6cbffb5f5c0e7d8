// The functions of threads.hpp that are not templates.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "threads.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// 0, …, size - 1.
inline std::vector<int> ranks_below(int size) {
  std::vector<int> ranks(std::size_t(size), 0);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class TERN_API ThreadRanks final : public Ranks {
 public:
  ThreadRanks(const std::shared_ptr<SharedMemory>& memory, int size, int rank)
      : Ranks({rank, size, rank, size}, std::make_unique<Segment>(memory, rank, ranks_below(size)), nullptr) {}

  TERN_KEY std::shared_ptr<Ranks> split(int color, int key) override;
  bool are_processes() const override { return false; }
};

/// Ranks tell each other their colours and keys; then the first of a part gives the others its memory. It stays in
/// scope until all have it.
TERN_INLINE std::shared_ptr<Ranks> ThreadRanks::split(int color, int key) {
  struct Choice {
    Index color, key, rank;
  };
  std::vector<Choice> all(std::size_t(place.size));
  const Choice mine{color, key, place.rank};
  all_gather(numbers(&mine.color, 3), numbers(&all[0].color, 3 * place.size));
  std::vector<Choice> part;
  for (const Choice& choice : all)
    if (choice.color == color) part.push_back(choice);
  std::stable_sort(part.begin(), part.end(), [](const Choice& a, const Choice& b) { return a.key < b.key; });
  std::shared_ptr<SharedMemory> memory;
  if (part[0].rank == place.rank) memory = std::make_shared<SharedMemory>(Segment::bytes_for(int(part.size())));
  const Index offered = reinterpret_cast<Index>(&memory);
  std::vector<Index> offers(std::size_t(place.size));
  all_gather(numbers(&offered, 1), numbers(offers.data(), place.size));
  if (!memory) memory = *reinterpret_cast<const std::shared_ptr<SharedMemory>*>(offers[std::size_t(part[0].rank)]);
  int rank = 0;
  while (part[std::size_t(rank)].rank != place.rank) ++rank;
  barrier();
  return std::make_shared<ThreadRanks>(memory, int(part.size()), rank);
}

/// A rank's thread and what it threw.
struct RankThread {
  int rank, size;
  std::shared_ptr<SharedMemory> memory;
  const std::function<void(const Communicator&)>* f;
  std::atomic<int>* first;  // that threw; -1: none
  pthread_t thread;
  std::exception_ptr error;

  static void* enter(void* self);
};

TERN_COLD void* RankThread::enter(void* context) {
  RankThread& self = *static_cast<RankThread*>(context);
  try {
    const Communicator communicator(std::make_shared<ThreadRanks>(self.memory, self.size, self.rank));
    try {
      (*self.f)(communicator);
    } catch (...) {
      // Noted while the communicator lives: the others, whose collectives end because this rank leaves, throw later.
      self.error = std::current_exception();
      int none = -1;
      self.first->compare_exchange_strong(none, self.rank);
    }
  } catch (...) { self.error = std::current_exception(); }
  return nullptr;
}

}}}  // namespace tern::distributed::detail

namespace tern { inline namespace TERN_BUILD { namespace distributed {

TERN_COLD Communicator single_rank() {
  return Communicator(std::make_shared<detail::ThreadRanks>(
      std::make_shared<detail::SharedMemory>(detail::Segment::bytes_for(1)), 1, 0));
}

TERN_COLD void run_ranks(int size, const std::function<void(const Communicator&)>& f, CallSite here) {
  const CallScope scope({"run_ranks", here});
  if (size < 1) Error::fail("run_ranks", {"at least one rank is needed, not ", size});
  const auto memory = std::make_shared<detail::SharedMemory>(detail::Segment::bytes_for(size));
  std::atomic<int> first = -1;
  std::vector<detail::RankThread> threads;
  for (int rank = 0; rank < size; ++rank) threads.push_back({rank, size, memory, &f, &first, {}, nullptr});
  int started = 0;
  while (started < size && pthread_create(&threads[std::size_t(started)].thread, nullptr, &detail::RankThread::enter,
                                          &threads[std::size_t(started)]) == 0)
    ++started;
  for (int absent = started; absent < size; ++absent)
    const detail::Segment left(memory, absent, detail::ranks_below(size));
  for (int rank = 0; rank < started; ++rank) pthread_join(threads[std::size_t(rank)].thread, nullptr);
  if (started < size)
    Error::fail("run_ranks", {"the system gives no more threads: rank ", started, " of ", size, " cannot start"});
  if (first >= 0) std::rethrow_exception(threads[std::size_t(first.load())].error);
  for (const detail::RankThread& thread : threads)
    if (thread.error) std::rethrow_exception(thread.error);
}

}}}  // namespace tern::distributed
