#include "support/errors.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <tern/data/stream.hpp>

namespace data_stream {
using namespace tern;
using namespace tern::data;
using tern_test::error_of;

namespace {

/// Samples (i) for i = 0 … count - 1; fails at one of them; notes when two threads read at once.
struct Counting {
  Index count = 0, fails_at = -1;
  mutable std::atomic<int> reading{0}, overlaps{0}, begun{0};

  explicit Counting(Index n, Index bad = -1) : count(n), fails_at(bad) {}

  struct Iterator {
    const Counting* set;
    Index i = 0;
    std::tuple<Index> operator*() const {
      if (++set->reading > 1) ++set->overlaps;
      if (i % 16 == 0) std::this_thread::yield();
      --set->reading;
      if (i == set->fails_at) throw std::runtime_error("line " + std::to_string(i) + " is bad");
      return {i};
    }
    void operator++() { ++i; }
    bool operator!=(std::default_sentinel_t) const { return i < set->count; }
  };
  Iterator begin() const {
    ++begun;
    return {this};
  }
  std::default_sentinel_t end() const { return {}; }
};

const int worker_counts[] = {0, 1, 4};

template <class L>
std::vector<Index> all_of(L&& batches, std::vector<Index>* sizes = nullptr) {
  std::vector<Index> out;
  for (auto& [x] : batches) {
    if (sizes) sizes->push_back(x.numel());
    out.insert(out.end(), x.data(), x.data() + x.numel());
  }
  return out;
}

std::vector<Index> first_numbers(Index n) {
  std::vector<Index> out;
  for (Index i = 0; i < n; ++i) out.push_back(i);
  return out;
}

}  // namespace

TEST_CASE("an iterable data set comes in its order, as often as it is asked", "[data][threads]") {
  for (const int workers : worker_counts)
    for (const Index count : {0, 1, 9, 10, 103}) {
      const Counting set(count);
      auto batches = loader<Cpu>(set, {.batch_size = 10, .num_workers = workers, .prefetch_factor = 3});
      for (int pass = 0; pass < 3; ++pass) {
        std::vector<Index> sizes;
        CHECK(all_of(batches, &sizes) == first_numbers(count));
        CHECK(Index(sizes.size()) == (count + 9) / 10);
      }
      CHECK(set.begun == 3);
      CHECK(set.overlaps == 0);
      const Index full = count / 10 * 10;
      CHECK(all_of(loader<Cpu>(set, {.batch_size = 10, .num_workers = workers, .drop_last = true})) ==
            first_numbers(full));
    }
}

TEST_CASE("an endless data set can be left", "[data][threads]") {
  for (const int workers : worker_counts) {
    const Counting set(INT64_MAX);
    Index last = 0;
    for (auto& [x] : loader<Cpu>(set, {.batch_size = 7, .num_workers = workers})) {
      last = x(6);
      if (last > 1000) break;
    }
    CHECK(last == 143 * 7 + 6);
    CHECK(set.overlaps == 0);
  }
}

TEST_CASE("an exception in reading reaches the caller where its batch would have", "[data][threads]") {
  for (const int workers : worker_counts) {
    const Counting set(100, 57);
    std::vector<Index> seen;
    std::string message;
    try {
      for (auto& [x] : loader<Cpu>(set, {.batch_size = 10, .num_workers = workers}))
        seen.insert(seen.end(), x.data(), x.data() + x.numel());
    } catch (const std::runtime_error& error) { message = error.what(); }
    CHECK(message == "line 57 is bad");
    CHECK(seen == first_numbers(50));
  }
}

TEST_CASE("an exception in reading ends the epoch", "[data][threads]") {
  for (const int workers : worker_counts) {
    const Counting set(100, 15);
    auto batches = loader<Cpu>(set, {.batch_size = 10, .num_workers = workers});
    auto at = batches.begin();
    CHECK(at != batches.end());
    CHECK_THROWS_AS(++at, std::runtime_error);
    CHECK(at == batches.end());
    ++at;
    CHECK(at == batches.end());
  }
}

TEST_CASE("samples of a stream are collated by a function, which may filter them", "[data]") {
  const Counting set(10);
  const auto even = [](const std::vector<std::tuple<Index>>& samples) {
    std::vector<Index> kept;
    for (const auto& [i] : samples)
      if (i % 2 == 0) kept.push_back(i);
    return std::tuple(from_vector<Cpu>(kept, Index(kept.size())));
  };
  CHECK(all_of(loader<Cpu>(set, {.batch_size = 5}, even)) == std::vector<Index>{0, 2, 4, 6, 8});
}

TEST_CASE("a stream's batch_size is a positional argument too", "[data]") {
  const Counting set(25);
  std::vector<Index> sizes;
  CHECK(all_of(loader<Cpu>(set, 10), &sizes) == first_numbers(25));
  CHECK(sizes == std::vector<Index>{10, 10, 5});
}

TEST_CASE("what a stream's samples draw by operations is their batch's, whoever reads them", "[data][threads]") {
  struct Noisy {
    struct Iterator {
      int i = 0;
      std::tuple<float> operator*() const { return {randn<Cpu>({}).item()}; }
      void operator++() { ++i; }
      bool operator!=(std::default_sentinel_t) const { return i < 10; }
    };
    Iterator begin() const { return {}; }
    std::default_sentinel_t end() const { return {}; }
  };
  const RandomState before = random_state();
  std::vector<float> expected;
  for (const int workers : worker_counts) {
    manual_seed(7);
    std::vector<float> drawn;
    auto batches = loader<Cpu>(Noisy(), {.batch_size = 4, .num_workers = workers});
    for (int e = 0; e < 2; ++e)
      for (auto& [x] : batches) {
        for (const float v : x.to_vector()) drawn.push_back(v);
        drawn.push_back(rand<Cpu>({}).item());
      }
    if (expected.empty()) expected = drawn;
    CHECK(drawn == expected);
    CHECK(drawn.size() == 26);
    for (std::size_t i = 1; i < drawn.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK(drawn[i] != drawn[j]);
  }
  set_random_state(before);
}

TEST_CASE("streams have no order to shuffle", "[data]") {
  const Counting set(3);
  CHECK(error_of([&] { loader<Cpu>(set, {.shuffle = true}); }) ==
        "loader: an iterable data set comes in its own order; shuffle is for others");
  CHECK(error_of([&] { loader<Cpu>(set, {.batch_size = 0}); }) == "loader: batch_size must be at least 1, not 0");
}

}  // namespace data_stream
