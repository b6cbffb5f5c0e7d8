#include "support/errors.hpp"

#include <tern/data/transforms/resize.hpp>

#include "transformed_image.hpp"

namespace data_transforms_resize {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::Json;
using tern_test::transformed_image;

TEST_CASE("resizing is torchvision's, with antialias", "[data]") {
  tern_test::check_recorded_images("resize", 1e-5, [](const Tensor<Cpu>& x, const Json& args) {
    return transformed_image(Resize(data::ImageSize(args[0].get<Index>(), args[1].get<Index>())), x);
  });
  tern_test::check_recorded_images("resize_shorter", 1e-5, [](const Tensor<Cpu>& x, const Json& args) {
    return transformed_image(Resize(args[0].get<Index>()), x);
  });
}

TEST_CASE("a resized crop shows windows as torchvision draws them", "[data]") {
  // The two channels are a pixel's row and column, so the slopes within a resized window say how large it was, and its
  // middle where it stood.
  const Index height = 120, width = 160, side = 8;
  const auto x = empty<Cpu>({2, height, width});
  for (Index i = 0; i < height; ++i)
    for (Index j = 0; j < width; ++j) x(0, i, j) = float(i), x(1, i, j) = float(j);
  const RandomResizedCrop crop(side);
  // Of 40000 draws of torchvision's RandomResizedCrop.get_params: means and deviations.
  struct {
    double mean, deviation, sum = 0;
  } area{0.43651, 0.21872}, column{80.06, 21.954}, log_ratio{0.03191, 0.16398};
  constexpr int n = 4000;
  for (Index sample = 0; sample < n; ++sample) {
    const auto y = transformed_image(crop, x, sample);
    REQUIRE(y.shape() == tern::detail::Shape{2, side, side});
    const double across = double(y(1, 4, 5) - y(1, 4, 2)) / 3 * double(side);
    const double down = double(y(0, 5, 4) - y(0, 2, 4)) / 3 * double(side);
    REQUIRE(across <= double(width) * 1.0001);
    REQUIRE(down <= double(height) * 1.0001);
    area.sum += across * down / double(height * width);
    column.sum += (double(y(1, 4, 3)) + double(y(1, 4, 4))) / 2 + 0.5;
    log_ratio.sum += std::log(across / down);
  }
  for (const auto& seen : {area, column, log_ratio})
    CHECK(std::abs(seen.sum / n - seen.mean) < 4 * seen.deviation / std::sqrt(double(n)));
}

TEST_CASE("where no window fits, the middle is taken", "[data]") {
  const auto x = tern_test::numbered_image(2, 3, 40);  // far wider than any window may be
  const auto y = transformed_image(RandomResizedCrop({3, 4}, {.scale = {1, 1}}), x);
  CHECK(tern_test::same_pixels(y, transformed_image(CenterCrop({3, 4}), x)));
}

TEST_CASE("sizes that cannot be are refused", "[data]") {
  CHECK(error_of([] { Resize(Index(0)); }) == "Resize: sizes must be positive, not 0 x 0");
  CHECK(error_of([] { Resize(data::ImageSize(3, 0)); }) == "Resize: sizes must be positive, not 3 x 0");
  CHECK(error_of([] { Resize(Index(1) << 40); }) ==
        "Resize: sizes must be at most 16777216, not 1099511627776 x 1099511627776");
  CHECK(error_of([] { transformed_image(Resize(Index(1) << 24), zeros<Cpu>({1, 2, 1})); }) ==
        "Resize: sizes must be at most 16777216, not 33554432 x 16777216");
  CHECK(error_of([] { RandomResizedCrop(4, {.scale = {0.5, 0.2}}); }) ==
        "RandomResizedCrop: scale must be a range of positive numbers, not 0.5 to 0.2");
  CHECK(error_of([] { RandomResizedCrop(4, {.ratio = {0, 2}}); }) ==
        "RandomResizedCrop: ratio must be a range of positive numbers, not 0 to 2");
}

}  // namespace data_transforms_resize
