// Batches of a loader: order, workers, prefetching, resuming, errors. Over 400 lines, because most cases hold for each
// number of workers and share the sets that watch them.
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tern/data/loader.hpp>

#include "../io/temporary_folder.hpp"

namespace data_loader {
using namespace tern;
using data::loader;
using tern_test::error_of;

namespace {

/// Sample i is the number i.
data::TensorDataset<Index> numbers(Index n) {
  const auto x = empty<Cpu, Index>({n});
  for (Index i = 0; i < n; ++i) x(i) = i;
  return data::TensorDataset(x);
}

/// The samples of one epoch, and the sizes of its batches.
template <class L>
std::vector<Index> epoch(L&& batches, std::vector<Index>* sizes = nullptr) {
  std::vector<Index> out;
  for (auto& [x] : batches) {
    if (sizes) sizes->push_back(x.numel());
    out.insert(out.end(), x.data(), x.data() + x.numel());
  }
  return out;
}

std::vector<Index> elements(const Tensor<Cpu, Index>& x) { return {x.data(), x.data() + x.numel()}; }

std::vector<Index> first_numbers(Index n) {
  std::vector<Index> out(std::size_t(n), 0);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// A set whose batches say who made them, take their time, and fail where they are told to.
struct Troubled {
  Index count = 0, fails_at = -1;
  int microseconds = 0;
  mutable std::atomic<int> made{0};

  Troubled(Index n, Index bad, int us) : count(n), fails_at(bad), microseconds(us) {}
  Index size() const { return count; }
  std::tuple<Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds * (1 + samples[0] % 3)));
    ++made;
    if (samples[0] == fails_at) throw std::runtime_error("sample " + std::to_string(fails_at) + " is bad");
    return {full<Cpu, Index>({1}, samples[0])};
  }
};

const int worker_counts[] = {0, 1, 2, 5};

/// A set that draws a number for each sample.
struct RandomNumbers {
  Index size() const { return 9; }
  std::tuple<Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    return batch(samples, data::RandomKey::next());
  }
  std::tuple<Tensor<Cpu, Index>> batch(std::span<const Index> samples, const data::RandomKey& key) const {
    const auto x = empty<Cpu, Index>({Index(samples.size())});
    for (Index i = 0; i < x.numel(); ++i) x(i) = data::Random(key, i, samples[std::size_t(i)]).word();
    return {x};
  }
};

std::vector<Index> sorted(std::vector<Index> order) {
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

TEST_CASE("batches come in order, whoever makes them", "[data][threads]") {
  const auto set = numbers(103);
  for (const int workers : worker_counts)
    for (const int prefetch : {1, 3}) {
      auto batches = loader<Cpu>(set, {.batch_size = 10, .num_workers = workers, .prefetch_factor = prefetch});
      CHECK(batches.size() == 11);
      std::vector<Index> sizes;
      CHECK(epoch(batches, &sizes) == first_numbers(103));
      CHECK(sizes == std::vector<Index>{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 3});
    }
}

TEST_CASE("batch_size and shuffle are positional arguments too", "[data]") {
  const auto set = numbers(25);
  std::vector<Index> sizes;
  CHECK(epoch(loader<Cpu>(set, 10), &sizes) == first_numbers(25));
  CHECK(sizes == std::vector<Index>{10, 10, 5});
  CHECK(loader<Cpu>(set, {10}, false).size() == 3);
  manual_seed(11);
  const auto shuffled = epoch(loader<Cpu>(set, 10, true));
  CHECK(shuffled != first_numbers(25));
  manual_seed(11);
  CHECK(epoch(loader<Cpu>(set, {.batch_size = 10, .shuffle = true})) == shuffled);
  CHECK(error_of([&] { loader<Cpu>(set, 0, true); }) == "loader: batch_size must be at least 1, not 0");
}

TEST_CASE("batches that take unequal time come in order", "[data][threads]") {
  const Troubled set(60, -1, 50);
  CHECK(epoch(loader<Cpu>(set, {.num_workers = 4})) == first_numbers(60));
}

TEST_CASE("drop_last leaves out a batch that is not full", "[data][threads]") {
  const auto set = numbers(25);
  for (const int workers : worker_counts) {
    auto batches = loader<Cpu>(set, {.batch_size = 10, .num_workers = workers, .drop_last = true});
    CHECK(batches.size() == 2);
    CHECK(epoch(batches) == first_numbers(20));
    CHECK(epoch(loader<Cpu>(set, {.batch_size = 30, .num_workers = workers, .drop_last = true})).empty());
    CHECK(epoch(loader<Cpu>(set, {.batch_size = 30, .num_workers = workers})).size() == 25);
    CHECK(epoch(loader<Cpu>(numbers(0), {.batch_size = 30, .shuffle = true, .num_workers = workers})).empty());
  }
}

TEST_CASE("shuffled epochs are permutations, new each time and the same for all numbers of workers",
          "[data][threads]") {
  const auto set = numbers(1000);
  std::vector<std::vector<Index>> expected;
  for (const int workers : worker_counts) {
    auto batches = loader<Cpu>(set, {.batch_size = 7, .shuffle = true, .num_workers = workers, .seed = 3});
    for (std::size_t e = 0; e < 4; ++e) {
      std::vector<Index> order = epoch(batches);
      if (expected.size() == e) {
        std::vector<Index> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == first_numbers(1000));
        for (const auto& other : expected) CHECK(other != order);
        expected.push_back(std::move(order));
      } else {
        CHECK(order == expected[e]);
      }
    }
  }
  auto resumed = loader<Cpu>(set, {.batch_size = 50, .shuffle = true, .seed = 3});
  resumed.set_epoch(2);
  CHECK(epoch(resumed) == expected[2]);
  CHECK(epoch(resumed) == expected[3]);
  CHECK(epoch(loader<Cpu>(set, {.shuffle = true, .seed = 4})) != expected[0]);
}

TEST_CASE("without a seed each epoch has an order of its own, which the random state determines", "[data]") {
  const auto set = numbers(100);
  const RandomState before = random_state();
  const data::LoaderOptions options{.batch_size = 10, .shuffle = true, .num_workers = 0};
  const auto in_a_loop = [&] {  // over epochs: a loader for each
    std::vector<std::vector<Index>> orders;
    for (int e = 0; e < 5; ++e) orders.push_back(epoch(loader<Cpu>(set, options)));
    return orders;
  };
  manual_seed(11);
  const auto orders = in_a_loop();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    CHECK(sorted(orders[i]) == first_numbers(100));
    for (std::size_t j = 0; j < i; ++j) CHECK(orders[i] != orders[j]);
  }
  manual_seed(11);
  CHECK(in_a_loop() == orders);
  manual_seed(12);
  CHECK(in_a_loop()[0] != orders[0]);
  manual_seed(11);
  auto one_loader = loader<Cpu>(set, options);
  for (const auto& order : orders) CHECK(epoch(one_loader) == order);

  // A state that is put back, as from a checkpoint, gives what came after it.
  manual_seed(11);
  epoch(loader<Cpu>(set, options)), epoch(loader<Cpu>(set, options));
  const RandomState saved = random_state();
  manual_seed(5);
  set_random_state(saved);
  CHECK(epoch(loader<Cpu>(set, options)) == orders[2]);

  // A rank's other random numbers are its own.
  manual_seed(11);
  detail::set_random_rank(3);
  CHECK(epoch(loader<Cpu>(set, options)) == orders[0]);
  detail::set_random_rank(0);
  set_random_state(before);
}

TEST_CASE("an epoch draws from the random state only if it needs a seed and none is given", "[data]") {
  struct AlwaysFirst {
    Index size() const { return 1; }
    std::vector<Index> order(std::uint64_t, Index) const { return {0}; }
  };
  const auto set = numbers(3);
  const auto taken = [](const auto& make) {
    const RandomState before = random_state();
    auto batches = make();
    CHECK(random_state().stream == before.stream);
    epoch(batches), epoch(batches);
    return random_state().stream - before.stream;
  };
  CHECK(taken([&] { return loader<Cpu>(set); }) == 0);
  CHECK(taken([&] { return loader<Cpu>(set, {.shuffle = true, .seed = 1}); }) == 0);
  CHECK(taken([&] { return loader<Cpu>(set, {.shuffle = true}); }) == 2);
  CHECK(taken([&] { return loader<Cpu>(set, {}, AlwaysFirst()); }) == 2);
  CHECK(taken([&] { return loader<Cpu>(RandomNumbers()); }) == 2);
  CHECK(taken([&] { return loader<Cpu>(RandomNumbers(), {.seed = 1}); }) == 0);
}

TEST_CASE("random numbers of batches are new in each loader, whoever makes them", "[data][threads]") {
  const RandomState before = random_state();
  std::vector<std::vector<Index>> expected;
  for (const int workers : worker_counts) {
    manual_seed(3);
    for (std::size_t e = 0; e < 3; ++e) {
      const auto drawn = epoch(loader<Cpu>(RandomNumbers(), {.batch_size = 2, .num_workers = workers}));
      if (expected.size() == e) {
        for (const auto& other : expected) CHECK(other != drawn);
        expected.push_back(drawn);
      }
      CHECK(drawn == expected[e]);
    }
  }
  set_random_state(before);
}

TEST_CASE("what a data set's samples draw by operations is their batch's, whoever makes them", "[data][threads]") {
  struct Noisy {
    std::size_t size() const { return 24; }
    Tensor<Cpu> operator[](std::size_t i) const {
      if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      return randn<Cpu>({2});
    }
  };
  using Epochs = std::vector<std::vector<float>>;
  const auto epochs = [](auto&& batches, int count) {
    Epochs drawn;
    for (int e = 0; e < count; ++e) {
      drawn.emplace_back();
      for (auto& [x] : batches) {
        for (const float v : x.to_vector()) drawn.back().push_back(v);
        drawn.back().push_back(rand<Cpu>({}).item());  // the training's own numbers
      }
    }
    return drawn;
  };
  const RandomState before = random_state();
  const auto run = [&](data::LoaderOptions options, int workers, bool anew) {
    options.num_workers = workers;
    manual_seed(7);
    if (!anew) return epochs(loader<Cpu>(Noisy(), options), 2);
    Epochs both = epochs(loader<Cpu>(Noisy(), options), 1), second = epochs(loader<Cpu>(Noisy(), options), 1);
    both.push_back(second[0]);
    return both;
  };
  for (const data::LoaderOptions& options :
       {data::LoaderOptions{.batch_size = 4}, data::LoaderOptions{.batch_size = 4, .shuffle = true},
        data::LoaderOptions{.batch_size = 4, .seed = 3}}) {
    const Epochs expected = run(options, 0, false);
    CHECK(expected[0] != expected[1]);
    CHECK(std::equal(expected[0].begin(), expected[0].begin() + 8, run(options, 0, true)[0].begin()));
    if (!options.seed) CHECK(run(options, 0, true)[0] != run(options, 0, true)[1]);
    for (const int workers : worker_counts)
      for (const bool anew : {false, true}) CHECK(run(options, workers, anew) == run(options, 0, anew));
    CHECK(run(options, 2, false) == expected);
    // A loop that goes on within an epoch draws the rest, and so does the training.
    auto batches = loader<Cpu>(Noisy(), options);
    manual_seed(7);
    int taken = 0;
    data::LoaderState place;
    RandomState then{};
    for (auto& batch : batches) {
      static_cast<void>(batch), rand<Cpu>({});
      if (++taken == 2) place = batches.state(), then = random_state();
    }
    auto resumed = loader<Cpu>(Noisy(), options);
    resumed.set_state(place);
    set_random_state(then);
    const std::vector<float> rest = epochs(resumed, 1)[0];
    CHECK(rest == std::vector<float>(expected[0].begin() + 2 * 9, expected[0].end()));
  }
  set_random_state(before);
}

TEST_CASE("a temporary loader has batches only for a loop, which keeps it", "[data]") {
  const auto has_begin = [](auto&& batches) { return requires { std::forward<decltype(batches)>(batches).begin(); }; };
  auto batches = loader<Cpu>(numbers(1));
  CHECK(has_begin(batches));
  CHECK(!has_begin(loader<Cpu>(numbers(1))));
}

TEST_CASE("a loader goes on where its state was asked for", "[data]") {
  const auto set = numbers(11);
  const data::LoaderOptions options{.batch_size = 3, .shuffle = true, .seed = 5};
  auto whole = loader<Cpu>(set, options);
  std::vector<data::LoaderState> states{whole.state()};  // before each batch, and after each epoch
  std::vector<std::vector<Index>> batches;
  for (int e = 0; e < 3; ++e) {
    for (auto& [x] : whole) {
      CHECK(whole.epoch() == e);
      batches.push_back(elements(x));
      states.push_back(whole.state());
    }
    CHECK(whole.epoch() == e + 1);
    CHECK((states.back().epoch == e && states.back().batch == 4));
    states.back() = whole.state();
    CHECK((states.back().epoch == e + 1 && states.back().batch == 0));
  }
  for (std::size_t at = 0; at + 1 < states.size(); ++at) {
    auto resumed = loader<Cpu>(set, {.batch_size = 3, .shuffle = true, .num_workers = 0, .seed = 6});
    resumed.set_state(states[at]);
    CHECK(resumed.epoch() == states[at].epoch);
    std::vector<std::vector<Index>> rest;
    while (resumed.epoch() < 3)
      for (auto& [x] : resumed) rest.push_back(elements(x));
    CHECK(rest == std::vector(batches.begin() + std::ptrdiff_t(at), batches.end()));
  }
}

TEST_CASE("a loop that ends early is over, and a state must fit the epoch", "[data]") {
  auto batches = loader<Cpu>(numbers(11), {.batch_size = 3});
  for (auto& [x] : batches)
    if (x(0) == 3) break;
  CHECK((batches.state().epoch == 1 && batches.state().batch == 0));
  batches.set_state({1, 2, 0});
  batches.set_epoch(1);  // the same
  CHECK(batches.state().batch == 2);
  batches.set_epoch(3);
  CHECK(batches.state().batch == 0);
  batches.set_state({1, 4, 0});  // a whole epoch was given
  for (auto& [x] : batches) FAIL("there is no batch left of " << x.numel());
  CHECK(batches.epoch() == 2);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(error_of([&] { batches.set_state({0, 5, 0}); }),
             ContainsSubstring("loader: a loop had been given 5 batches, but an epoch has 4"));
  CHECK_THAT(error_of([&] { batches.set_state({-1, 0, 0}); }), ContainsSubstring("must not be negative: -1 and 0"));
  CHECK(batches.epoch() == 2);
}

TEST_CASE("a loader without a seed goes on with the order that its epoch had drawn", "[data]") {
  const auto set = numbers(11);
  const data::LoaderOptions options{.batch_size = 3, .shuffle = true};
  const RandomState before = random_state();
  manual_seed(4);
  auto whole = loader<Cpu>(set, options);
  std::vector<std::pair<data::LoaderState, RandomState>> states;  // behind each batch
  std::vector<std::vector<Index>> batches;
  for (int e = 0; e < 2; ++e)
    for (auto& [x] : whole) {
      batches.push_back(elements(x));
      states.emplace_back(whole.state(), random_state());
    }
  for (std::size_t at = 0; at < states.size(); ++at) {
    manual_seed(9);
    auto resumed = loader<Cpu>(set, options);
    resumed.set_state(states[at].first);
    set_random_state(states[at].second);
    std::vector<std::vector<Index>> rest;
    while (resumed.epoch() < 2)
      for (auto& [x] : resumed) rest.push_back(elements(x));
    CHECK(rest == std::vector(batches.begin() + std::ptrdiff_t(at) + 1, batches.end()));
  }
  set_random_state(before);
}

TEST_CASE("every place is equally likely for a sample", "[data]") {
  // Chi-squared over 20 x 20 places and samples, 361 degrees of freedom: mean 361, standard deviation 27.
  constexpr int n = 20, epochs = 4000;
  int counts[n][n] = {};
  for (int e = 0; e < epochs; ++e) {
    const auto order = data::detail::epoch_order(n, true, 5, e);
    for (int place = 0; place < n; ++place) ++counts[place][order[std::size_t(place)]];
  }
  double chi2 = 0;
  for (const auto& row : counts)
    for (const int count : row) chi2 += (count - epochs / n) * (count - epochs / n) / double(epochs / n);
  CHECK(chi2 > 361 - 5 * 27);
  CHECK(chi2 < 361 + 5 * 27);
}

/// What f throws, of whatever type: a data set's exceptions are its own.
template <class F>
std::string exception_of(const F& f) {
  try {
    f();
  } catch (const std::exception& exception) { return exception.what(); }
  return "";
}

TEST_CASE("an exception in a worker reaches the caller where its batch would have", "[data][threads]") {
  for (const int workers : worker_counts) {
    const Troubled set(100, 37, 0);
    std::vector<Index> seen;
    const std::string message = exception_of([&] {
      for (auto& [x] : loader<Cpu>(set, {.num_workers = workers})) seen.push_back(x(0));
    });
    CHECK(message == "sample 37 is bad");
    CHECK(seen == first_numbers(37));
    const Troubled at_once(5, 0, 0);
    CHECK(exception_of([&] { epoch(loader<Cpu>(at_once, {.num_workers = workers})); }) == "sample 0 is bad");
  }
}

TEST_CASE("an exception ends the epoch", "[data][threads]") {
  for (const int workers : worker_counts)
    for (const Index bad : {0, 3, 9}) {
      const Troubled set(10, bad, 0);
      auto batches = loader<Cpu>(set, {.num_workers = workers});
      if (bad == 0) {
        CHECK(exception_of([&] { batches.begin(); }) == "sample 0 is bad");
      } else {
        auto at = batches.begin();
        for (Index i = 1; i < bad; ++i) ++at;
        CHECK(at != batches.end());
        CHECK(exception_of([&] { ++at; }) == "sample " + std::to_string(bad) + " is bad");
        CHECK(at == batches.end());
        ++at;
        ++at;
        CHECK(at == batches.end());
      }
      CHECK(exception_of([&] { epoch(batches); }) == "sample " + std::to_string(bad) + " is bad");  // the next epoch
    }
}

namespace {

/// A set that asks for more memory than there is.
template <class Exception>
struct Greedy {
  Index size() const { return 3; }
  std::tuple<Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    if (samples[0] == 1) throw Exception();
    return {full<Cpu, Index>({1}, samples[0])};
  }
};
struct TooLong : std::length_error {
  TooLong() : std::length_error("vector::_M_default_append") {}
};

}  // namespace

TEST_CASE("a lack of memory is an Error", "[data][threads]") {
  for (const int workers : worker_counts) {
    const std::string message = "loader: 'a batch': the host has not enough memory for it";
    CHECK(error_of([&] { epoch(loader<Cpu>(Greedy<std::bad_alloc>(), {.num_workers = workers})); }) == message);
    CHECK(error_of([&] { epoch(loader<Cpu>(Greedy<TooLong>(), {.num_workers = workers})); }) == message);
  }
  struct Everything {
    Index size() const { return Index(1) << 60; }
    std::tuple<Tensor<Cpu, Index>> batch(std::span<const Index>) const { return {zeros<Cpu, Index>({1})}; }
  };
  CHECK(error_of([&] { epoch(loader<Cpu>(Everything(), {.num_workers = 0})); }) ==
        "loader: 'the order of the samples': the host has not enough memory for it");
}

TEST_CASE("leaving a loop early stops the workers", "[data][threads]") {
  for (const int workers : worker_counts) {
    const Troubled set(100000, -1, 20);
    auto batches = loader<Cpu>(set, {.num_workers = workers, .prefetch_factor = 4});
    for (int round = 0; round < 3; ++round)
      for (auto& [x] : batches)
        if (x(0) == 5) break;
    const int made = set.made;
    CHECK(made <= 3 * (6 + 4 * workers));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(set.made == made);
  }
}

TEST_CASE("no more is made ahead than prefetch allows", "[data][threads]") {
  const Troubled set(100, -1, 0);
  auto batches = loader<Cpu>(set, {.num_workers = 2, .prefetch_factor = 3});
  int taken = 0;
  for (auto& [x] : batches) {
    ++taken;
    if (taken == 20) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(set.made <= taken + 6);
    REQUIRE(x(0) == taken - 1);
  }
}

TEST_CASE("many short epochs", "[data][threads]") {
  const auto set = numbers(17);
  auto batches = loader<Cpu>(set, {.batch_size = 4, .num_workers = 3, .prefetch_factor = 1});
  for (int e = 0; e < 300; ++e) REQUIRE(epoch(batches) == first_numbers(17));
}

TEST_CASE("a batch that is kept stays as it is", "[data][threads]") {
  const auto set = numbers(64);
  std::vector<Tensor<Cpu, Index>> kept;
  for (auto& [x] : loader<Cpu>(set, {.batch_size = 2, .num_workers = 2, .prefetch_factor = 1})) kept.push_back(x);
  for (Index i = 0; i < 64; ++i) CHECK(kept[std::size_t(i / 2)](i % 2) == i);
}

TEST_CASE("a temporary set is kept by its loader", "[data][threads]") {
  auto batches = loader<Cpu>(numbers(9), {.batch_size = 2});
  CHECK(epoch(batches) == first_numbers(9));
  CHECK(epoch(batches) == first_numbers(9));
}

TEST_CASE("two loops over one loader at once", "[data][threads]") {
  const auto set = numbers(6);
  auto batches = loader<Cpu>(set, {.shuffle = true, .num_workers = 1, .seed = 1});
  std::vector<Index> outer;
  for (auto& [x] : batches) {
    outer.push_back(x(0));
    std::vector<Index> inner = epoch(batches);
    std::sort(inner.begin(), inner.end());
    CHECK(inner == first_numbers(6));
  }
  auto again = loader<Cpu>(set, {.shuffle = true, .seed = 1});
  CHECK(outer == epoch(again));
}

TEST_CASE("the time spent waiting for batches is counted", "[data][threads]") {
  for (const int workers : {0, 1}) {
    const Troubled slow(4, -1, 2000);  // 2, 4, 6 and 2 ms
    auto batches = loader<Cpu>(slow, {.num_workers = workers});
    CHECK(batches.seconds_waited() == 0);
    epoch(batches);
    const double waited = batches.seconds_waited();
    CHECK(waited >= 0.006);
    epoch(batches);
    CHECK(batches.seconds_waited() > waited);
  }
}

TEST_CASE("options that cannot be are refused", "[data]") {
  const auto set = numbers(3);
  CHECK(error_of([&] { loader<Cpu>(set, {.batch_size = 0}); }) == "loader: batch_size must be at least 1, not 0");
  CHECK(error_of([&] { loader<Cpu>(set, {.num_workers = -1}); }) == "loader: num_workers must not be negative: -1");
  CHECK(error_of([&] { loader<Cpu>(set, {.prefetch_factor = 0}); }) ==
        "loader: prefetch_factor must be at least 1, not 0");
  CHECK(error_of([&] { loader<Cpu>(set, {.num_workers = INT_MAX, .prefetch_factor = INT_MAX}); }) ==
        "loader: 2147483647 workers with 2147483647 batches each are more than 1000000 batches");
}

TEST_CASE("a batch may be larger than the data set", "[data][threads]") {
  auto batches = loader<Cpu>(numbers(3), {.batch_size = INT64_MAX});
  CHECK(batches.size() == 1);
  CHECK(epoch(batches) == first_numbers(3));
  CHECK(loader<Cpu>(numbers(3), {.batch_size = INT64_MAX, .drop_last = true}).size() == 0);
}

}  // namespace data_loader
