#include "support/errors.hpp"

#include <set>

#include <tern/data/transforms/mix.hpp>

namespace data_transforms_mix {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;

namespace {

using Batch = std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>;

/// Images [4, 2, 6, 5] that are all i + 1, and labels 0, 2, 1, 2.
Batch four_images() {
  const auto x = empty<Cpu>({4, 2, 6, 5});
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = float(i / 60 + 1);
  return {x, tensor<Cpu, Index>({0, 2, 1, 2})};
}

data::Random numbers(Index i) { return data::Random({3, i}, 0, 0); }

/// Error unless the labels have `share` of their own class and the rest of that of the sample before.
void check_labels(const Tensor<Cpu>& mixed, double share) {
  const int own[] = {0, 2, 1, 2};
  REQUIRE(mixed.shape() == tern::detail::Shape{4, 3});
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c) {
      const double expected = (own[i] == c ? share : 0) + (own[(i + 3) % 4] == c ? 1 - share : 0);
      CHECK(mixed(i, c) == Approx(expected).margin(1e-6));
    }
}

}  // namespace

TEST_CASE("mixup mixes each sample with the one before, and their labels alike", "[data]") {
  std::set<float> shares;
  for (Index k = 0; k < 20; ++k) {
    data::Random random = numbers(k);
    const auto [x, y] = MixUp({.num_classes = 3})(four_images(), random);
    REQUIRE(x.shape() == tern::detail::Shape{4, 2, 6, 5});
    const float share = 2 - x(1, 0, 0, 0);  // 2 λ + 1 - λ = 1 + λ, and the other way round
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 60; ++j) {
        const double own = double(i + 1), before = double((i + 3) % 4 + 1);
        REQUIRE(x.data()[i * 60 + j] == Approx(own * double(1 - share) + before * double(share)).margin(1e-5));
      }
    check_labels(y, 1 - double(share));
    shares.insert(share);
  }
  CHECK(shares.size() == 20);
}

TEST_CASE("cutmix puts a rectangle of the sample before into each, and labels have shares by area", "[data]") {
  std::set<Index> areas;
  for (Index k = 0; k < 50; ++k) {
    data::Random random = numbers(k);
    const auto [x, y] = CutMix({.num_classes = 3})(four_images(), random);
    Index top = 6, bottom = 0, left = 5, right = 0, area = 0;
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 5; ++j) {
        const bool other = x(1, 0, i, j) == 1;
        for (Index n = 0; n < 4; ++n)
          for (Index c = 0; c < 2; ++c) REQUIRE(x(n, c, i, j) == float(other ? (n + 3) % 4 + 1 : n + 1));
        if (!other) continue;
        top = std::min(top, i), bottom = std::max(bottom, i + 1), ++area;
        left = std::min(left, j), right = std::max(right, j + 1);
      }
    if (area) CHECK(area == (bottom - top) * (right - left));
    check_labels(y, 1 - double(area) / 30);
    areas.insert(area);
  }
  CHECK(areas.size() > 5);
}

TEST_CASE("shares are from the beta distribution", "[data]") {
  // Mean 1/2, variance 1 / (4 (2 a + 1)), fourth central moment 3 / (16 (2 a + 1) (2 a + 3)).
  constexpr int n = 20000;
  for (const double a : {0.2, 1., 4.}) {
    double sum = 0, squares = 0;
    for (Index k = 0; k < n; ++k) {
      data::Random random = numbers(k);
      const double x = data::transforms::detail::draw_beta(random, a) - 0.5;
      REQUIRE(std::abs(x) <= 0.5);
      sum += x;
      squares += x * x;
    }
    const double variance = 1 / (4 * (2 * a + 1)), fourth = 3 / (16 * (2 * a + 1) * (2 * a + 3));
    INFO(a);
    CHECK(std::abs(sum / n) < 4 * std::sqrt(variance / n));
    CHECK(std::abs(squares / n - variance) < 4 * std::sqrt((fourth - variance * variance) / n));
  }
}

TEST_CASE("mixtures that cannot be are refused", "[data]") {
  CHECK(error_of([] { MixUp({.alpha = 0, .num_classes = 3}); }) == "MixUp: alpha must be positive, not 0");
  CHECK(error_of([] { CutMix({}); }) == "CutMix: num_classes must be at least 1, not 0");
  data::Random random = numbers(0);
  CHECK(error_of([&] { MixUp({.num_classes = 2})(four_images(), random); }) ==
        "MixUp: label 2 is not one of 2 classes");
  const Batch flat{zeros<Cpu>({2, 3}), zeros<Cpu, Index>({2})};
  CHECK(error_of([&] { CutMix({.num_classes = 2})(flat, random); }) ==
        "CutMix: images must be [N, C, H, W], not [2, 3]");
}

TEST_CASE("samples and labels of different numbers are not mixed", "[data]") {
  data::Random random = numbers(0);
  const Batch more{zeros<Cpu>({3, 1, 2, 2}), zeros<Cpu, Index>({2})};
  const std::string why = ": samples must be [N, …] in row-major order and labels [N], not [3, 1, 2, 2] and [2]";
  CHECK(error_of([&] { MixUp({.num_classes = 2})(more, random); }) == "MixUp" + why);
  CHECK(error_of([&] { CutMix({.num_classes = 2})(more, random); }) == "CutMix" + why);
  CHECK(error_of([&] { MixUp({.num_classes = 2})(Batch(), random); }) == "MixUp: a tensor is undefined");
}

}  // namespace data_transforms_mix
