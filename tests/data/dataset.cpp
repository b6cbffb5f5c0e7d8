#include "support/catch.hpp"

#include <vector>

#include <tern/data/collate.hpp>
#include <tern/data/dataset.hpp>
#include <tern/ops/views.hpp>

#include "../io/temporary_folder.hpp"

namespace data_dataset {
using namespace tern;
using tern_test::error_of;

static_assert(data::Dataset<data::TensorDataset<float, Index>>);
static_assert(!data::Dataset<Tensor<Cpu>>);

TEST_CASE("a TensorDataset gathers rows of its tensors", "[data]") {
  const auto x = empty<Cpu>({4, 2, 3});
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = float(i);
  const auto y = empty<Cpu, Index>({4});
  for (Index i = 0; i < 4; ++i) y(i) = 10 * i;
  const data::TensorDataset set(x, y);
  CHECK(set.size() == 4);

  const std::vector<Index> samples = {3, 0, 3};
  const auto [a, b] = set.batch(samples);
  REQUIRE(a.shape() == detail::Shape{3, 2, 3});
  REQUIRE(b.shape() == detail::Shape{3});
  for (Index i = 0; i < 3; ++i) {
    CHECK(b(i) == 10 * samples[std::size_t(i)]);
    for (Index j = 0; j < 6; ++j) CHECK(a.data()[6 * i + j] == float(6 * samples[std::size_t(i)] + j));
  }
  CHECK(std::get<0>(set.batch({})).shape() == detail::Shape{0, 2, 3});
}

TEST_CASE("a sample of a TensorDataset is a tuple of its tensors' rows", "[data]") {
  const auto x = empty<Cpu>({4, 2});
  for (Index i = 0; i < 8; ++i) x.data()[i] = float(i);
  const auto y = empty<Cpu, Index>({4});
  for (Index i = 0; i < 4; ++i) y(i) = 10 * i;
  const data::TensorDataset set(x, y);
  for (const Index i : {0, 3, -1, -4}) {
    const Index row = i < 0 ? i + 4 : i;
    const auto [a, b] = set[i];
    REQUIRE(a.shape() == detail::Shape{2});
    REQUIRE(b.shape() == detail::Shape{});
    CHECK(a.data() == x.data() + 2 * row);
    CHECK(b.data() == y.data() + row);
  }
  CHECK(error_of([&] { set[4]; }) == "TensorDataset: there is no sample 4 of 4");
  CHECK(error_of([&] { set[-5]; }) == "TensorDataset: there is no sample -5 of 4");

  const std::vector<Index> samples = {3, 0};
  const auto [a, b] = set.batch(samples);
  const auto [c, d] = data::collated(set).batch(samples);
  REQUIRE(c.shape() == a.shape());
  REQUIRE(d.shape() == b.shape());
  CHECK(std::equal(a.data(), a.data() + 4, c.data()));
  CHECK(std::equal(b.data(), b.data() + 2, d.data()));
}

TEST_CASE("a TensorDataset takes tensors in any memory order", "[data]") {
  const auto x = empty<Cpu>({3, 4});
  for (Index i = 0; i < 12; ++i) x.data()[i] = float(i);
  detail::TensorImpl* const turned = detail::new_detached(x.impl());
  std::swap(turned->dims[0], turned->dims[1]);
  std::swap(turned->strides[0], turned->strides[1]);
  detail::update_contiguous(*turned);
  const data::TensorDataset set{Tensor<Cpu>(turned)};
  CHECK(set.size() == 4);
  const std::vector<Index> samples = {2};
  const auto [row] = set.batch(samples);
  for (Index j = 0; j < 3; ++j) CHECK(row(0, j) == float(4 * j + 2));
}

TEST_CASE("a TensorDataset of samples without elements", "[data]") {
  const data::TensorDataset set(empty<Cpu>({5, 0}));
  const std::vector<Index> samples = {1, 2};
  CHECK(std::get<0>(set.batch(samples)).shape() == detail::Shape{2, 0});
}

TEST_CASE("tensors that do not fit together are refused", "[data]") {
  CHECK(error_of([] { data::TensorDataset(empty<Cpu>({3, 2}), empty<Cpu, Index>({4})); }) ==
        "TensorDataset: first sizes differ: [3, 2] and [4]");
  CHECK(error_of([] { data::TensorDataset(empty<Cpu>({})); }) ==
        "TensorDataset: a tensor has no dimension that counts samples");
  CHECK(error_of([] { data::TensorDataset(Tensor<Cpu>()); }) == "TensorDataset: a tensor is undefined");
}

TEST_CASE("a batch may be a std::pair", "[data]") {
  struct Own {
    Index size() const { return 5; }
    std::pair<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
      const Index n = Index(samples.size());
      return {ones<Cpu>({n, 3}), full<Cpu, Index>({n}, samples[0])};
    }
  } const own;
  std::vector<Index> seen;
  for (auto& [x, y] : data::loader<Cpu>(own, {.batch_size = 2})) {
    CHECK(x.size(0) == y.numel());
    seen.push_back(y(0));
  }
  CHECK(seen == std::vector<Index>{0, 2, 4});
}

TEST_CASE("an undefined tensor's Error names the line", "[data]") {
  TERN_TEST_LINE(data::TensorDataset(ones<Cpu>({2}), Tensor<Cpu>()));
}

}  // namespace data_dataset
