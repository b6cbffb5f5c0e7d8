#include "support/errors.hpp"

#include <numeric>
#include <set>

#include <tern/data/loader.hpp>
#include <tern/data/samplers.hpp>

namespace data_samplers {
using namespace tern;
using namespace tern::data;
using tern_test::error_of;

namespace {

std::vector<Index> first_numbers(Index n) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<Index> sorted(std::vector<Index> x) {
  std::sort(x.begin(), x.end());
  return x;
}

/// How often each of n samples was drawn in so many epochs.
template <class S>
std::vector<double> counts_of(const S& sampler, Index n, Index epochs) {
  std::vector<double> counts(static_cast<std::size_t>(n));
  for (Index e = 0; e < epochs; ++e)
    for (const Index i : sampler.order(7, e)) ++counts[std::size_t(i)];
  return counts;
}

}  // namespace

TEST_CASE("samplers take the samples that they say", "[data]") {
  CHECK(SequentialSampler(4).order(1, 2) == first_numbers(4));
  const RandomSampler permuted(50);
  CHECK(sorted(permuted.order(1, 0)) == first_numbers(50));
  CHECK(permuted.order(1, 0) == permuted.order(1, 0));
  CHECK(permuted.order(1, 0) != permuted.order(1, 1));
  CHECK(permuted.order(1, 0) != permuted.order(2, 0));
  const RandomSampler more(3, {.num_samples = 8});  // two permutations and a part of a third
  CHECK(more.size() == 8);
  const auto order = more.order(1, 0);
  for (const Index start : {0, 3})
    CHECK(sorted({order.begin() + start, order.begin() + start + 3}) == first_numbers(3));
  CHECK(order[6] != order[7]);
  const SubsetRandomSampler some({7, 3, 5});
  CHECK(some.size() == 3);
  for (Index epoch = 0; epoch < 4; ++epoch) CHECK(sorted(some.order(1, epoch)) == std::vector<Index>{3, 5, 7});
  std::set<std::vector<Index>> orders;
  for (Index epoch = 0; epoch < 200; ++epoch) orders.insert(some.order(1, epoch));
  CHECK(orders.size() == 6);
  CHECK(SubsetRandomSampler(tensor<Cpu>({7, 3, 5}, i64)).order(1, 2) == some.order(1, 2));
  const auto counts = counts_of(RandomSampler(10, {.replacement = true, .num_samples = 1000}), 10, 10);
  double chi2 = 0;
  for (const double count : counts) chi2 += (count - 1000) * (count - 1000) / 1000;
  CHECK(chi2 > 0.5);
  CHECK(chi2 < 9 + 5 * std::sqrt(18.));
  CHECK(error_of([] { RandomSampler(0, {.num_samples = 3}); }) == "RandomSampler: there are no samples to draw from");
}

TEST_CASE("weights are probabilities", "[data]") {
  const std::vector<double> weights = {1, 0, 3, 2};
  constexpr Index epochs = 200, draws = 60;
  const auto counts = counts_of(WeightedRandomSampler(weights, draws), 4, epochs);
  CHECK(counts[1] == 0);
  for (std::size_t i = 0; i < 4; ++i) {
    const double p = weights[i] / 6, expected = p * draws * epochs;
    CHECK(std::abs(counts[i] - expected) <= 4 * std::sqrt(expected * (1 - p)));
  }
}

TEST_CASE("without replacement each draw is from those left", "[data]") {
  const WeightedRandomSampler sampler({1, 0, 3, 2}, 2, false);
  constexpr int n = 20000;
  int pairs[4][4] = {};
  for (Index e = 0; e < n; ++e) {
    const auto order = sampler.order(3, e);
    REQUIRE(order.size() == 2);
    ++pairs[order[0]][order[1]];
  }
  const double weight[] = {1, 0, 3, 2};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double p = i == j ? 0 : weight[i] / 6 * weight[j] / (6 - weight[i]);
      CHECK(std::abs(pairs[i][j] - n * p) <= 4.5 * std::sqrt(n * p * (1 - p)));
    }
}

TEST_CASE("batches of like lengths", "[data]") {
  std::vector<Index> lengths;
  for (Index i = 0; i < 1003; ++i) lengths.push_back(i * 7919 % 500);
  const LengthSampler sampler(lengths, 10, 20);
  const auto order = sampler.order(1, 0);
  CHECK(sorted(order) == first_numbers(1003));
  CHECK(order != sampler.order(1, 1));
  // A pool is 200 samples, evenly spread over 500 lengths: a batch of ten of them spans 25 or so, a random one over
  // 400.
  double spread = 0, rising = 0;
  Index before = 0;
  for (std::size_t batch = 0; batch < 100; ++batch) {
    Index least = 500, most = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      const Index length = lengths[std::size_t(order[batch * 10 + i])];
      least = std::min(least, length), most = std::max(most, length);
    }
    spread += double(most - least);
    rising += least > before;
    before = least;
  }
  CHECK(spread / 100 < 40);
  CHECK(rising > 30);  // the batches themselves come in no order of length
  CHECK(rising < 70);
  CHECK(sorted(LengthSampler({5, 3}, 10).order(1, 0)) == first_numbers(2));
}

TEST_CASE("a loader follows its sampler", "[data][threads]") {
  const auto x = arange<Cpu>(Index(20));
  const TensorDataset set(x);
  const WeightedRandomSampler sampler(std::vector<double>(20, 1.), 33);
  for (const int workers : {0, 2}) {
    auto batches = loader<Cpu>(set, {.batch_size = 10, .num_workers = workers, .seed = 5}, sampler);
    CHECK(batches.size() == 4);
    for (Index e = 0; e < 2; ++e) {
      std::vector<Index> seen;
      for (auto& [samples] : batches) seen.insert(seen.end(), samples.data(), samples.data() + samples.numel());
      CHECK(seen == sampler.order(5, e));
    }
  }
  CHECK(loader<Cpu>(set, {.batch_size = 10, .drop_last = true}, sampler).size() == 3);
  CHECK(error_of([&] { loader<Cpu>(set, {.shuffle = true}, sampler); }) ==
        "loader: a sampler and shuffle exclude each other");
  auto wrong = loader<Cpu>(set, {.batch_size = 10}, SequentialSampler(21));
  CHECK(error_of([&] { wrong.begin(); }) == "loader: the sampler names sample 20 of 20");
}

TEST_CASE("samplers take floats, tensors and positional arguments", "[data]") {
  const std::vector<Index> order = WeightedRandomSampler({1, 0, 3, 2}, 50).order(1, 2);
  CHECK(WeightedRandomSampler(std::vector<float>{1, 0, 3, 2}, 50).order(1, 2) == order);
  CHECK(WeightedRandomSampler(tensor<Cpu>({1, 0, 3, 2}), 50).order(1, 2) == order);
  CHECK(WeightedRandomSampler(tensor<Cpu>({{1, 9}, {0, 9}, {3, 9}, {2, 9}}).select(1, 0), 50).order(1, 2) == order);
  CHECK(error_of([] { WeightedRandomSampler(ones<Cpu>({2, 2}), 1); }) ==
        "WeightedRandomSampler: a tensor of numbers is [N], not [2, 2]");
  const RandomSampler drawn(3, true, 5), permuted(3, false);
  CHECK(drawn.order(1, 2) == RandomSampler(3, {.replacement = true, .num_samples = 5}).order(1, 2));
  CHECK(permuted.order(1, 2) == RandomSampler(3).order(1, 2));
}

TEST_CASE("samplers that cannot be are refused", "[data]") {
  CHECK(error_of([] { WeightedRandomSampler({1, -1}, 1); }) ==
        "WeightedRandomSampler: weight 1 is -1; weights must be finite and not negative");
  CHECK(error_of([] { WeightedRandomSampler({1, HUGE_VAL}, 1); }) ==
        "WeightedRandomSampler: weight 1 is inf; weights must be finite and not negative");
  CHECK(error_of([] { WeightedRandomSampler({1}, 0); }) ==
        "WeightedRandomSampler: num_samples must be at least 1, not 0");
  CHECK(error_of([] { WeightedRandomSampler({0, 0}, 1); }) ==
        "WeightedRandomSampler: 0 samples have a positive weight, too few to draw 1");
  CHECK(error_of([] { WeightedRandomSampler({0, 1}, 2, false); }) ==
        "WeightedRandomSampler: 1 samples have a positive weight, too few to draw 2 without replacement");
  CHECK(error_of([] { LengthSampler({1}, 0); }) == "LengthSampler: batch_size must be at least 1, not 0");
  CHECK(error_of([] { LengthSampler({1}, 1, 0); }) == "LengthSampler: pool must be at least 1, not 0");
}

TEST_CASE("ranks share the samples of an order", "[data]") {
  for (const Index size : {0, 1, 5, 12, 13})
    for (const Index ranks : {1, 2, 3, 4})
      for (const bool drop_last : {false, true})
        for (const bool shuffle : {false, true}) {
          CAPTURE(size, ranks, drop_last, shuffle);
          std::vector<Index> all(std::size_t(size), 0);
          for (Index rank = 0; rank < ranks; ++rank) {
            const DistributedSampler sampler(
                size, {.rank = rank, .ranks = ranks, .shuffle = shuffle, .drop_last = drop_last});
            const std::vector<Index> order = sampler.order(3, 2);
            CHECK(Index(order.size()) == sampler.size());
            CHECK(sampler.size() == (drop_last ? size / ranks : (size + ranks - 1) / ranks));
            for (const Index i : order) ++all[std::size_t(i)];
            if (shuffle && size > 5) CHECK(order != sampler.order(3, 3));
          }
          // Each once, but for those that fill the ranks up or are left out.
          Index drawn = 0, different = 0;
          for (const Index count : all) drawn += count, different += count > 0;
          CHECK(drawn - different == (drop_last ? 0 : different ? drawn - size : 0));
          CHECK(different == (drop_last ? size / ranks * ranks : size));
        }
  // Without padding, parts of tests: each once.
  for (const Index size : {0, 1, 5, 12})
    for (const Index ranks : {1, 2, 3}) {
      std::vector<int> all(std::size_t(size), 0);
      for (Index rank = 0; rank < ranks; ++rank) {
        const DistributedSampler part(size, {.rank = rank, .ranks = ranks, .shuffle = false, .pad = false});
        const std::vector<Index> order = part.order(3, 2);
        CHECK(Index(order.size()) == part.size());
        for (const Index i : order) ++all[std::size_t(i)];
      }
      CHECK(all == std::vector<int>(std::size_t(size), 1));
    }
  // Two ranks' batches of 2 are the batches of 4 of a loader that shuffles.
  const auto numbers = arange<Cpu>(0, 12);
  std::vector<std::vector<Index>> whole, parts;
  const auto sorted = [](const Tensor<Cpu, Index>& x) {
    std::vector<Index> samples(x.data(), x.data() + x.numel());
    std::sort(samples.begin(), samples.end());
    return samples;
  };
  for (auto& [x] : data::loader<Cpu>(data::TensorDataset(numbers), {.batch_size = 4, .shuffle = true, .seed = 9}))
    whole.push_back(sorted(x));
  const auto part = [&](Index rank) {
    std::vector<Tensor<Cpu, Index>> batches;
    for (auto& [x] : data::loader<Cpu>(data::TensorDataset(numbers), {.batch_size = 2, .seed = 9},
                                       DistributedSampler(12, {.rank = rank, .ranks = 2})))
      batches.push_back(x);
    return batches;
  };
  const auto first = part(0), second = part(1);
  for (std::size_t i = 0; i < first.size(); ++i) parts.push_back(sorted(cat({first[i], second[i]}, 0)));
  CHECK(parts == whole);
  const auto without_seed = [&](const DistributedSamplerOptions& options) {
    return error_of(
        [&] { data::loader<Cpu>(data::TensorDataset(numbers), {.batch_size = 2}, DistributedSampler(12, options)); });
  };
  CHECK(without_seed({.rank = 1, .ranks = 2}) ==
        "loader: ranks that divide an order need a seed, the same on all: {.seed = 1}");
  CHECK(without_seed({.rank = 1, .ranks = 2, .shuffle = false}) == "");
  CHECK(without_seed({}) == "");
  // As torch.utils.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False).
  CHECK(DistributedSampler(5, {.rank = 1, .ranks = 2, .shuffle = false}).order(1, 0) == std::vector<Index>{1, 3, 0});
  CHECK(error_of([] { DistributedSampler(5, {.rank = 2, .ranks = 2}); }) ==
        "DistributedSampler: rank must be one of at least 1 ranks, not 2 of 2");
  CHECK(error_of([] { DistributedSampler(-1); }) ==
        "DistributedSampler: the number of samples must not be negative: -1");
}

TEST_CASE("a sampler's order is as long as it has said", "[data]") {
  struct Own {
    std::vector<Index> samples;
    Index size() const { return 3; }
    std::vector<Index> order(std::uint64_t, Index) const { return samples; }
  };
  const TensorDataset set(arange<Cpu, float>(4));
  const auto walk = [&](const std::vector<Index>& samples) {
    std::vector<float> seen;
    for (auto& [x] : loader<Cpu>(set, {.batch_size = 2}, Own{samples}))
      seen.insert(seen.end(), x.data(), x.data() + x.numel());
    return seen;
  };
  CHECK(walk({3, 1, 3}) == std::vector<float>{3, 1, 3});
  CHECK(error_of([&] { walk({0, 1}); }) == "loader: the sampler's order names 2 samples, but its size() is 3");
  CHECK(error_of([&] { walk({0, 1, 2, 3}); }) == "loader: the sampler's order names 4 samples, but its size() is 3");
}

}  // namespace data_samplers
