#include "support/errors.hpp"

#include <tern/data/transforms/cutout.hpp>

#include "transformed_image.hpp"

namespace data_transforms_cutout {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::numbered_image;
using tern_test::transformed_image;

TEST_CASE("cutout fills a square in all channels, its centre anywhere in the image", "[data]") {
  const Index height = 6, width = 7, length = 4;
  const auto x = numbered_image(2, height, width);
  int seen[height][width] = {};
  constexpr int n = 4200;
  for (Index sample = 0; sample < n; ++sample) {
    const auto y = transformed_image(Cutout(length, {.fill = -1}), x, sample);
    // The square is known by its centre: exactly one centre explains the holes.
    int explained = 0;
    for (Index row = 0; row < height; ++row)
      for (Index column = 0; column < width; ++column) {
        bool same = true;
        for (Index c = 0; c < 2; ++c)
          for (Index i = 0; i < height; ++i)
            for (Index j = 0; j < width; ++j) {
              const bool hole = i >= row - 2 && i < row + 2 && j >= column - 2 && j < column + 2;
              same &= y(c, i, j) == (hole ? -1 : x(c, i, j));
            }
        explained += same;
        seen[row][column] += same;
      }
    REQUIRE(explained == 1);
  }
  double chi2 = 0;
  for (const auto& row : seen)
    for (const int count : row) chi2 += (count - 100) * (count - 100) / 100.;
  CHECK(chi2 < 41 + 5 * std::sqrt(82.));
}

TEST_CASE("cutout may have several holes, or none", "[data]") {
  const auto x = numbered_image(1, 64, 64);
  const auto holes = [&](int count) {
    const auto y = transformed_image(Cutout(3, {.holes = count}), x);
    return std::count(y.data(), y.data() + y.numel(), 0.f);
  };
  CHECK(holes(0) == 0);
  CHECK(holes(1) <= 9);
  CHECK(holes(5) > 20);
  CHECK(error_of([] { Cutout(0); }) == "Cutout: length must be at least 1, not 0");
  CHECK(error_of([] { Cutout(1, {.holes = -1}); }) == "Cutout: holes must not be negative: -1");
}

}  // namespace data_transforms_cutout
