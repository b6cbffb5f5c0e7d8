#include "support/errors.hpp"

#include <map>

#include <tern/data/transforms/crop.hpp>

#include "transformed_image.hpp"

namespace data_transforms_crop {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::numbered_image;
using tern_test::pixel;
using tern_test::transformed_image;

namespace {

/// The offset of the window of x, padded, that y is; every place but that one differs.
std::pair<Index, Index> offset_of(const Tensor<Cpu>& x, const Tensor<Cpu>& y, Index padding, float fill) {
  for (Index top = -padding; top + y.size(1) <= x.size(1) + padding; ++top)
    for (Index left = -padding; left + y.size(2) <= x.size(2) + padding; ++left) {
      bool same = true;
      for (Index c = 0; c < y.size(0); ++c)
        for (Index i = 0; i < y.size(1); ++i)
          for (Index j = 0; j < y.size(2); ++j) same &= y(c, i, j) == pixel(x, c, top + i, left + j, fill);
      if (same) return {top, left};
    }
  return {-1000, -1000};
}

}  // namespace

TEST_CASE("a random crop is a window of the padded image, each as likely as another", "[data]") {
  struct {
    Index height, width, crop_height, crop_width, padding;
  } const shapes[] = {{5, 4, 5, 4, 2}, {6, 5, 3, 4, 0}, {3, 3, 5, 5, 1}, {2, 2, 1, 1, 3}, {1, 7, 1, 7, 0}};
  for (const auto& s : shapes) {
    const auto x = numbered_image(3, s.height, s.width);
    const RandomCrop crop({s.crop_height, s.crop_width}, {.padding = s.padding, .fill = -7});
    const Index places = (s.height + 2 * s.padding - s.crop_height + 1) * (s.width + 2 * s.padding - s.crop_width + 1);
    const Index draws = 200 * places;
    std::map<std::pair<Index, Index>, Index> seen;
    for (Index sample = 0; sample < draws; ++sample) {
      const auto y = transformed_image(crop, x, sample);
      REQUIRE(y.shape() == tern::detail::Shape{3, s.crop_height, s.crop_width});
      // Windows of nothing but padding cannot be told apart: those of the fourth shape are counted together.
      ++seen[offset_of(x, y, s.padding, -7)];
    }
    CHECK(seen.count({-1000, -1000}) == 0);
    if (s.crop_height == 1 && s.crop_width == 1) continue;
    CHECK(Index(seen.size()) == places);
    double chi2 = 0;
    for (const auto& [place, count] : seen) chi2 += double((count - 200) * (count - 200)) / 200;
    CHECK(chi2 < double(places) + 6 * std::sqrt(2. * double(places)));
  }
}

TEST_CASE("a centre crop is torchvision's", "[data]") {
  tern_test::check_recorded_images("center_crop", 0, [](const Tensor<Cpu>& x, const tern_test::Json& args) {
    return transformed_image(CenterCrop({args[0].get<Index>(), args[1].get<Index>()}), x);
  });
}

TEST_CASE("crops that cannot be are refused", "[data]") {
  CHECK(error_of([] { RandomCrop(0); }) == "RandomCrop: sizes must be positive, not 0 x 0");
  CHECK(error_of([] { RandomCrop(3, {.padding = -1}); }) == "RandomCrop: padding must be in [0, 16777216], not -1");
  CHECK(error_of([] { RandomCrop(3, {.padding = INT64_MAX}); }) ==
        "RandomCrop: padding must be in [0, 16777216], not 9223372036854775807");
  CHECK(error_of([] { CenterCrop({4, Index(1) << 40}); }) ==
        "CenterCrop: sizes must be at most 16777216, not 4 x 1099511627776");
  CHECK(error_of([] { CenterCrop({4, -1}); }) == "CenterCrop: sizes must be positive, not 4 x -1");
  CHECK(error_of([] { transformed_image(RandomCrop(5, {.padding = 1}), numbered_image(1, 4, 2)); }) ==
        "RandomCrop: an image of 4 x 2, padded by 1, has no window of 5 x 5");
}

TEST_CASE("RandomCrop takes torchvision's positional padding", "[data]") {
  const auto x = numbered_image(1, 4, 4);
  for (Index sample = 0; sample < 5; ++sample)
    CHECK(tern_test::same_pixels(transformed_image(RandomCrop(4, 2), x, sample),
                                 transformed_image(RandomCrop(4, {.padding = 2}), x, sample)));
}

}  // namespace data_transforms_crop
