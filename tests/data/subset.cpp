#include "support/errors.hpp"

#include <numeric>

#include <tern/data/cifar.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/subset.hpp>
#include <tern/data/transforms.hpp>
#include <tern/ops/views.hpp>

namespace data_subset {
using namespace tern;
using namespace tern::data;
using tern_test::error_of;

namespace {

/// Sample i is (i, i + first).
TensorDataset<float, Index> numbers(Index n, Index first = 0) {
  const auto x = empty<Cpu>({n, 2});
  const auto y = empty<Cpu, Index>({n});
  for (Index i = 0; i < n; ++i) x(i, 0) = x(i, 1) = float(i), y(i) = i + first;
  return TensorDataset(x, y);
}

std::vector<Index> sorted(std::vector<Index> x) {
  std::sort(x.begin(), x.end());
  return x;
}

/// The samples 0 to 4, and a count of all sets of this kind that there are.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted(Counted&&) noexcept { ++alive; }
  ~Counted() { --alive; }

  Index size() const { return 5; }
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    const Index n = Index(samples.size());
    return {zeros<Cpu>({n, 1, 1, 1}), from_vector<Cpu>(std::vector<Index>(samples.begin(), samples.end()), n)};
  }
};

/// The same, sample by sample.
struct CountedSamples : Counted {
  std::tuple<Tensor<Cpu>, Index> operator[](Index i) const { return {zeros<Cpu>({1, 1, 1}), i}; }
};

template <class S>
std::vector<Index> labels_of(const S& set, const std::vector<Index>& samples) {
  const auto [x, y] = set.batch(samples);
  return {y.data(), y.data() + y.numel()};
}

}  // namespace

TEST_CASE("a subset is the samples that were named", "[data]") {
  const auto set = numbers(10);
  const Subset part(set, {7, 2, 2, 9});
  CHECK(part.size() == 4);
  CHECK(labels_of(part, {3, 0, 1}) == std::vector<Index>{9, 7, 2});
  CHECK(labels_of(Subset(Subset(set, {4, 5, 6}), {2}), {0}) == std::vector<Index>{6});
  CHECK(error_of([&] { Subset(set, {10}); }) == "Subset: there is no sample 10 of 10");
  CHECK(error_of([&] { Subset(set, {-1}); }) == "Subset: there is no sample -1 of 10");
}

TEST_CASE("a subset has samples by number where its set has them", "[data]") {
  const auto set = numbers(10, 100);
  const Subset part(set, {7, 2});
  CHECK(std::get<1>(part[0]).item() == 107);
  CHECK(std::get<1>(part[-1]).item() == 102);
  CHECK(std::get<0>(part[1]).shape() == tern::detail::Shape{2});
  CHECK(error_of([&] { part[2]; }) == "Subset: there is no sample 2 of 2");
  const std::vector<std::tuple<Index>> samples{{5}, {6}, {7}};
  CHECK(std::get<0>(Subset(collated(samples), {2, 0})[1]) == 5);
}

TEST_CASE("views of data sets own temporaries and refer to variables", "[data]") {
  REQUIRE(Counted::alive == 0);
  const auto as_it_is = [](Image&, Random&) {};
  const auto same_batch = [](const auto& batch, Random&) { return batch; };
  // The view that make makes of a temporary, after the temporary's end.
  const auto check = [](auto set, const auto& make) {
    REQUIRE(Counted::alive == 1);
    {
      const auto view = make(set);
      CHECK(view.size() > 0);
      CHECK(Counted::alive == 1);
    }
    {
      const auto view = make(std::move(set));
      CHECK(Counted::alive == 2);
      const auto copy = view;
      CHECK(copy.size() == view.size());
    }
    const auto outlives = [&] { return make(decltype(set)()); }();
    CHECK(Counted::alive == 2);
    return outlives;
  };
  const std::vector<Index> all = {0, 1, 2, 3, 4};
  const auto check_batches = [&](const auto& make) { CHECK(sorted(labels_of(check(Counted(), make), all)) == all); };
  check_batches([&](auto&& set) { return Subset(std::forward<decltype(set)>(set), all); });
  check_batches([&](auto&& set) {
    return ConcatDataset(std::forward<decltype(set)>(set),
                         TensorDataset(zeros<Cpu>({1, 1, 1, 1}), arange<Cpu>(Index(1))));
  });
  check_batches([&](auto&& set) { return transformed(std::forward<decltype(set)>(set), as_it_is); });
  check_batches([&](auto&& set) { return transformed(std::forward<decltype(set)>(set), same_batch); });
  check_batches([&](auto&& set) { return random_split(std::forward<decltype(set)>(set), {5})[0]; });
  check_batches([&](auto&& set) {
    return random_split(Subset(transformed(std::forward<decltype(set)>(set), as_it_is), all), {5, 0})[0];
  });
  CHECK(labels_of(check(CountedSamples(), [](auto&& set) { return collated(std::forward<decltype(set)>(set)); }),
                  all) == all);
  CHECK(labels_of(check(CountedSamples(),
                        [](auto&& set) { return random_split(collated(std::forward<decltype(set)>(set)), {1.0})[0]; }),
                  all)
            .size() == 5);
  CHECK(check(Counted(), [](auto&& set) { return loader<Cpu>(std::forward<decltype(set)>(set)); }).size() == 5);
  check(Counted(), [](auto&& set) { return random_split(std::forward<decltype(set)>(set), {3, 2}); });
  CHECK(Counted::alive == 0);
}

TEST_CASE("the parts of a temporary share it", "[data]") {
  const std::vector<std::tuple<Tensor<Cpu>, Index>> samples(20, {ones<Cpu>({3}), 4});
  const auto parts = random_split(collated(std::vector(samples)), {0.5, 0.5}, 1);
  static_assert(
      std::is_same_v<
          decltype(parts),
          const Parts<Subset<Collated<std::vector<std::tuple<Tensor<Cpu>, Index>>, data::detail::DefaultCollate>>, 2>>);
  Index seen = 0;
  for (const auto& part : parts)
    for (auto& [x, y] : loader<Cpu>(part, {.batch_size = 4, .shuffle = true})) {
      CHECK(x.sum().item() == float(x.numel()));
      for (Index i = 0; i < y.numel(); ++i, ++seen) CHECK(y(i) == 4);
    }
  CHECK(seen == 20);
  // A part of temporary parts is the loader's own.
  const auto set = collated(samples);
  auto batches = loader<Cpu>(random_split(set, {15, 5})[1], {.batch_size = 5});
  for (auto& [x, y] : batches) CHECK(y(4) == 4);
  static_assert(std::is_same_v<decltype(random_split(set, {15, 5})[1]), Subset<decltype(set)&>>);
}

TEST_CASE("parts are named at once", "[data]") {
  const auto set = numbers(20);
  const auto parts = random_split(set, {15, 5}, 3);
  auto [train, val] = random_split(set, {0.75, 0.25}, 3);
  static_assert(std::is_same_v<decltype(train), const Subset<decltype(set)&>>);
  CHECK(train.indices() == parts[0].indices());
  CHECK(val.indices() == parts[1].indices());
  const auto& [first, second] = parts;
  CHECK(&first == &parts[0]);
  CHECK(&second == &parts[1]);
  Index batches = 0;
  for (auto& batch : loader<Cpu>(val, {.batch_size = 2})) batches += std::get<0>(batch).size(0) > 0;
  CHECK(batches == 3);
  // A temporary set is the parts' own.
  const std::vector<std::tuple<Tensor<Cpu>, Index>> samples(20, {ones<Cpu>({3}), 4});
  auto [most, few] = random_split(collated(std::vector(samples)), {15, 5});
  for (auto& [x, y] : loader<Cpu>(few, {.batch_size = 5})) CHECK(y(4) == 4);
  CHECK(most.size() == 15);
}

TEST_CASE("a split without a seed is drawn from the random state", "[data]") {
  const auto set = numbers(50);
  const RandomState before = random_state();
  manual_seed(4);
  const auto first = random_split(set, {25, 25})[0].indices(), second = random_split(set, {25, 25})[0].indices();
  CHECK(first != second);
  manual_seed(4);
  CHECK(random_split(set, {25, 25})[0].indices() == first);
  set_random_state(before);
}

TEST_CASE("random_split deals out all samples once", "[data]") {
  const auto set = numbers(11);
  const auto sizes = [](const auto& parts) {
    std::vector<Index> out;
    for (const auto& part : parts) out.push_back(part.size());
    return out;
  };
  // The lengths are PyTorch's for the same fractions.
  CHECK(sizes(random_split(set, {0.5, 0.5})) == std::vector<Index>{6, 5});
  CHECK(sizes(random_split(set, {0.3, 0.3, 0.4})) == std::vector<Index>{4, 3, 4});
  CHECK(sizes(random_split(set, {8, 0, 3})) == std::vector<Index>{8, 0, 3});
  std::vector<Index> all;
  const auto parts = random_split(set, {8, 3}, 5);
  for (const auto& part : parts) all.insert(all.end(), part.indices().begin(), part.indices().end());
  CHECK(parts[0].indices() == random_split(set, {8, 3}, 5)[0].indices());
  CHECK(parts[0].indices() != random_split(set, {8, 3}, 6)[0].indices());
  CHECK(!std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  std::vector<Index> expected(11);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
  Index seen = 0;
  for (auto& [x, y] : loader<Cpu>(parts[0], {.batch_size = 3, .shuffle = true})) seen += y.numel();
  CHECK(seen == 8);
  CHECK(error_of([&] { random_split(set, {8, 4}); }) ==
        "random_split: the lengths sum to 12, not to the 11 samples, nor to 1 as fractions");
  CHECK(error_of([&] { random_split(set, {12, -1}); }) == "random_split: a length must not be negative: -1");
}

TEST_CASE("several data sets as one", "[data]") {
  const auto a = numbers(3), b = numbers(2, 100);
  const ConcatDataset both(a, b, Subset(a, {1}));
  CHECK(both.size() == 6);
  CHECK(labels_of(both, {4, 0, 3, 5, 2, 4}) == std::vector<Index>{101, 0, 100, 1, 2, 101});
  const std::vector<Index> samples = {4, 1};
  const auto [x, y] = both.batch(samples);
  REQUIRE(x.shape() == tern::detail::Shape{2, 2});
  CHECK(x(0, 1) == 1);
  const auto [none, no_labels] = both.batch({});
  CHECK(none.shape() == tern::detail::Shape{0, 2});
  const TensorDataset wide(zeros<Cpu>({2, 3}), zeros<Cpu, Index>({2}));
  const std::vector<Index> one_of_each = {0, 3};
  CHECK(error_of([&] { ConcatDataset(a, wide).batch(one_of_each); }) ==
        "ConcatDataset: samples differ in shape: batches are [2, 2] and [1, 3]");
}

TEST_CASE("parts of transformed sets draw as the whole does, joined sets each for itself", "[data][threads]") {
  const auto shift = [](Image& image, Random& random) { image.data()[0] = random.uniform(); };
  const TensorDataset images(zeros<Cpu>({6, 1, 1, 1}), arange<Cpu>(Index(6)));
  const auto set = transformed(images, shift);
  const RandomKey key{1, 2, 3};
  const std::vector<Index> in_part = {1}, in_set = {4}, both = {4, 10};
  const auto first = [](const auto& batch, Index i) { return std::get<0>(batch)(i, 0, 0, 0); };
  CHECK(first(Subset(set, {0, 4}).batch(in_part, key), 0) == first(set.batch(in_set, key), 0));
  const auto joined = ConcatDataset(set, set).batch(both, key);
  CHECK(first(joined, 0) != first(joined, 1));
  for (const int workers : {0, 2}) {
    std::vector<float> seen;
    for (auto& [x, y] :
         loader<Cpu>(ConcatDataset(set, Subset(set, {3})), {.batch_size = 2, .num_workers = workers, .seed = 3}))
      seen.insert(seen.end(), x.data(), x.data() + x.numel());
    static std::vector<float> expected;
    if (workers == 0) expected = seen;
    CHECK(seen == expected);
    CHECK(seen.size() == 7);
  }
}

TEST_CASE("a part of an image data set reads its images one by one", "[data]") {
  NEED_TEST_DATA(folder, "data/cifar10-subset");
  const auto cifar = Cifar10::load(folder, {.train = false});
  const Subset part(cifar, {5, 8});
  static_assert(ImageDataset<decltype(part)>);
  const std::vector<Index> last = {1}, same = {8};
  const auto [x, y] = transformed(part, transforms::CenterCrop(32)).batch(last);
  const auto [expected, label] = cifar.batch(same);
  CHECK(y(0) == label(0));
  CHECK(std::equal(x.data(), x.data() + x.numel(), expected.data()));
}

TEST_CASE("sets are joined only if their batches have a row for each sample", "[data]") {
  struct Own {
    Tensor<Cpu> x;
    Index size() const { return 2; }
    std::tuple<Tensor<Cpu>> batch(std::span<const Index>) const { return {x}; }
  };
  const TensorDataset set(ones<Cpu>({2, 3}));
  const std::vector<Index> samples = {0, 2, 3};
  CHECK(error_of([&] { ConcatDataset(set, Own{ones<Cpu>({1, 3})}).batch(samples); }) ==
        "ConcatDataset: batch() of set 1 was asked for 2 samples, but returns a tensor of shape [1, 3]");
  CHECK(error_of([&] { ConcatDataset(set, Own{ones<Cpu>({3, 3})}).batch(samples); }) ==
        "ConcatDataset: batch() of set 1 was asked for 2 samples, but returns a tensor of shape [3, 3]");
  CHECK(error_of([&] { ConcatDataset(set, Own{}).batch(samples); }) ==
        "ConcatDataset: batch() of set 1 returns an undefined tensor");
}

TEST_CASE("parts take lengths and positions of several types", "[data]") {
  const auto set = numbers(12);
  Index n = set.size();
  const auto [most, two] = random_split(set, {n - 2, 2}, 1);
  CHECK(most.indices() == random_split(set, {10, 2}, 1)[0].indices());
  const auto parts = random_split(set, std::vector<Index>{9, 2, 1}, 1);
  CHECK(parts.size() == 3);
  CHECK(parts[1].size() == 2);
  CHECK(random_split(set, std::vector<double>{0.75, 0.25}, 1)[0].indices() == parts[0].indices());
  CHECK(random_split(std::vector<std::tuple<Index>>(4), std::vector<int>{3, 1})[1].size() == 1);
  CHECK(error_of([&] { parts[3]; }) == "random_split: there is no part 3 of 3");
  CHECK(Subset(set, tensor<Cpu, Index>({3, 1})).indices() == std::vector<Index>{3, 1});
  CHECK(error_of([&] { Subset(set, zeros<Cpu, Index>({1, 2})); }) == "Subset: a tensor of numbers is [N], not [1, 2]");
  TERN_TEST_LINE(Subset(set, zeros<Cpu, Index>({})));
}

TEST_CASE("joined sets have samples by number", "[data]") {
  const auto a = numbers(3), b = numbers(2, 100);
  const ConcatDataset both(a, b);
  CHECK(std::get<1>(both[2]).item() == 2);
  CHECK(std::get<1>(both[3]).item() == 100);
  CHECK(std::get<1>(both[-1]).item() == 101);
  CHECK(error_of([&] { both[5]; }) == "ConcatDataset: there is no sample 5 of 5");
}

}  // namespace data_subset
