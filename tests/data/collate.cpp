#include "support/errors.hpp"
#include "support/tensors.hpp"

#include <tern/data/collate.hpp>
#include <tern/data/loader.hpp>
#include <tern/tensor/creation.hpp>

namespace data_collate {
using namespace tern;
using namespace tern::data;
using tern_test::error_of;
using tern_test::values_of;

namespace {

/// Sample i: i + 1 ones, a tensor of two numbers, and i.
struct Sequences {
  Index size() const { return 5; }
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>, int> operator[](Index i) const {
    return {ones<Cpu>({i + 1}), tensor<Cpu, Index>({i, -i}), int(i)};
  }
};

}  // namespace

TEST_CASE("samples are stacked", "[data]") {
  const std::vector<std::tuple<Tensor<Cpu>, Index, bool, float, int>> samples = {
      {tensor<Cpu>({{1, 2}, {3, 4}}), 7, true, 0.5f, 1}, {tensor<Cpu>({{5, 6}, {7, 8}}).t(), 8, false, 1.5f, 2}};
  const auto [x, label, flag, number, count] = default_collate(samples);
  REQUIRE(x.shape() == tern::detail::Shape{2, 2, 2});
  CHECK(x(1, 0, 1) == 7);  // a transposed sample in row-major order
  static_assert(std::is_same_v<decltype(label), const Tensor<Cpu, Index>>);
  static_assert(std::is_same_v<decltype(flag), const Tensor<Cpu, bool>>);
  static_assert(std::is_same_v<decltype(count), const Tensor<Cpu, Index>>);
  CHECK(label(1) == 8);
  CHECK(flag(0));
  CHECK(!flag(1));
  CHECK(number(1) == 1.5f);
  CHECK(count(0) == 1);
  const std::vector<std::tuple<Tensor<Cpu>>> uneven = {{ones<Cpu>({2})}, {ones<Cpu>({3})}};
  CHECK(error_of([&] { default_collate(uneven); }) ==
        "default_collate: samples differ in shape: sample 0 of the batch is [2], sample 1 is [3]; collate them with a "
        "function of your own");
}

TEST_CASE("a function of the user's makes the batches", "[data][threads]") {
  const auto padded = [](const auto& samples) {
    Index longest = 0;
    for (const auto& [x, pair, i] : samples) longest = std::max(longest, x.numel());
    const auto out = zeros<Cpu>({Index(samples.size()), longest});
    const auto numbers = empty<Cpu, Index>({Index(samples.size())});
    for (Index k = 0; k < Index(samples.size()); ++k) {
      const auto& [x, pair, i] = samples[std::size_t(k)];
      std::copy_n(x.data(), x.numel(), out.data() + k * longest);
      numbers(k) = i;
    }
    return std::tuple(out, numbers);
  };
  const Sequences set;
  for (const int workers : {0, 2}) {
    Index seen = 0;
    for (auto& [x, i] : loader<Cpu>(collated(set, padded), {.batch_size = 2, .num_workers = workers}))
      for (Index row = 0; row < x.size(0); ++row, ++seen) {
        CHECK(i(row) == seen);
        Index length = 0;
        for (Index k = 0; k < x.size(1); ++k) length += x(row, k) != 0;
        CHECK(length == seen + 1);
      }
    CHECK(seen == 5);
  }
}

std::tuple<Tensor<Cpu>> first_values(const std::vector<float>& samples) { return {tensor<Cpu>(samples)}; }

TEST_CASE("a collated set has the samples of its set", "[data]") {
  const auto set = collated(Sequences());
  CHECK(std::get<0>(set[3]).numel() == 4);
  CHECK(std::get<2>(set[-1]) == 4);
  CHECK(error_of([&] { set[5]; }) == "collated: there is no sample 5 of 5");
  CHECK(error_of([&] { set[-6]; }) == "collated: there is no sample -6 of 5");
}

TEST_CASE("a plain function makes the batches", "[data]") {
  const std::vector<float> samples{1, 2, 3};
  const auto set = collated(samples, first_values);
  const auto [x] = set.batch(std::vector<Index>{2, 0});
  CHECK(x.to_vector() == std::vector<float>{3, 1});
}

TEST_CASE("a vector of samples is a data set", "[data]") {
  std::vector<std::tuple<Tensor<Cpu>, Index>> samples;
  for (Index i = 0; i < 7; ++i) samples.emplace_back(full<Cpu>({3}, double(i)), i);
  Index seen = 0;
  for (auto& [x, y] : loader<Cpu>(collated(samples), {.batch_size = 3}))
    for (Index i = 0; i < y.numel(); ++i, ++seen) {
      CHECK(y(i) == seen);
      CHECK(x(i, 2) == float(seen));
    }
  CHECK(seen == 7);
}

/// A set as a PyTorch user writes it.
class Squares {
 public:
  std::size_t size() const { return 5; }
  std::pair<Tensor<Cpu>, double> operator[](std::size_t i) const { return {full<Cpu>({2}, i), double(i * i)}; }
};

TEST_CASE("a loader takes a set of samples by number", "[data]") {
  const Squares set;
  std::vector<double> inputs, squares;
  for (const auto& [x, y] : data::loader<Cpu>(set, {.batch_size = 2})) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, Tensor<Cpu, double>>);
    CHECK(x.size(1) == 2);
    for (const double v : values_of(x.select(1, 0))) inputs.push_back(v);
    for (const double v : values_of(y)) squares.push_back(v);
  }
  CHECK(inputs == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(squares == std::vector<double>{0, 1, 4, 9, 16});
  CHECK(data::loader<Cpu>(Squares(), 2, true).size() == 3);
  std::vector<double> first;
  for (const auto& [x, y] : data::loader<Cpu>(set, {.batch_size = 3}, data::SequentialSampler(3))) first = values_of(y);
  CHECK(first == std::vector<double>{0, 1, 4});
  const auto sums = [](const std::vector<std::pair<Tensor<Cpu>, double>>& samples) {
    double sum = 0;
    for (const auto& [x, y] : samples) sum += y;
    return std::tuple(tensor<Cpu, double>({sum}));
  };
  std::vector<double> of_batches;
  for (const auto& [sum] : data::loader<Cpu>(set, {.batch_size = 3}, sums)) of_batches.push_back(sum.item());
  CHECK(of_batches == std::vector<double>{5, 25});
  const auto [train, test] = data::random_split(set, {3, 2});
  double total = 0;
  for (const auto& part : {train, test})
    for (const auto& [x, y] : data::loader<Cpu>(part, 2)) total += y.sum().item();
  CHECK(total == 30);
  double of_parts = 0;
  for (const auto& part : {train, test})
    for (const auto& [sum] : data::loader<Cpu>(part, {.batch_size = 2}, sums)) of_parts += sum.item();
  CHECK(of_parts == 30);
}

TEST_CASE("samples that are a tensor each are one part", "[data]") {
  const auto [batch] = data::default_collate(std::vector{full<Cpu>({2}, 1), full<Cpu>({2}, 2)});
  CHECK(values_of(batch) == std::vector<double>{1, 1, 2, 2});
}

}  // namespace data_collate
