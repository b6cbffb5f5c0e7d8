#include "support/errors.hpp"

#include <numeric>

#include <tern/data/cifar.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/subset.hpp>
#include <tern/data/transforms.hpp>

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
  CHECK(error_of([&] {
          random_split(set, {8, 4});
        }) == "random_split: the lengths sum to 12, not to the 11 samples, nor to 1 as fractions");
  CHECK(error_of([&] { random_split(set, {12, -1}); }) == "random_split: a length must not be negative: -1");
}

TEST_CASE("several data sets as one", "[data]") {
  const auto a = numbers(3), b = numbers(2, 100);
  const ConcatDataset both(a, b, Subset(a, {1}));
  CHECK(both.size() == 6);
  CHECK(labels_of(both, {4, 0, 3, 5, 2, 4}) == std::vector<Index>{101, 0, 100, 1, 2, 101});
  const std::vector<Index> samples = {4, 1};
  const auto [x, y] = both.batch(samples);
  REQUIRE(x.shape() == Shape{2, 2});
  CHECK(x(0, 1) == 1);
  const auto [none, no_labels] = both.batch({});
  CHECK(none.shape() == Shape{0, 2});
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
         loader<Cpu>(ConcatDataset(set, Subset(set, {3})), {.batch_size = 2, .workers = workers, .seed = 3}))
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

}  // namespace data_subset
