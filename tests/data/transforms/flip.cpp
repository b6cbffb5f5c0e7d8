#include "support/errors.hpp"

#include <tern/data/transforms/flip.hpp>

#include "transformed_image.hpp"

namespace data_transforms_flip {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::numbered_image;
using tern_test::same_pixels;
using tern_test::transformed_image;

TEST_CASE("flips turn rows or columns round", "[data]") {
  for (const Index height : {1, 2, 5})
    for (const Index width : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 50}) {
      const auto x = numbered_image(3, height, width);
      const auto across = transformed_image(RandomHorizontalFlip(1), x),
                 down = transformed_image(RandomVerticalFlip(1), x);
      bool right = true;
      for (Index c = 0; c < 3; ++c)
        for (Index i = 0; i < height; ++i)
          for (Index j = 0; j < width; ++j)
            right &= across(c, i, j) == x(c, i, width - 1 - j) && down(c, i, j) == x(c, height - 1 - i, j);
      INFO(height << " x " << width);
      CHECK(right);
      CHECK(same_pixels(transformed_image(RandomHorizontalFlip(0), x), x));
      CHECK(same_pixels(transformed_image(RandomVerticalFlip(0), x), x));
    }
}

TEST_CASE("flips come as often as they should", "[data]") {
  const auto x = numbered_image(1, 2, 2);
  constexpr int n = 4000;
  for (const double p : {0.5, 0.1}) {
    int across = 0, down = 0;
    for (Index sample = 0; sample < n; ++sample) {
      across += !same_pixels(transformed_image(RandomHorizontalFlip(p), x, sample), x);
      down += !same_pixels(transformed_image(RandomVerticalFlip(p), x, sample), x);
    }
    const double deviation = std::sqrt(n * p * (1 - p));
    CHECK(std::abs(across - n * p) < 4 * deviation);
    CHECK(std::abs(down - n * p) < 4 * deviation);
  }
  CHECK(error_of([] { RandomHorizontalFlip(1.5); }) == "RandomHorizontalFlip: p must lie in [0, 1], not 1.5");
  CHECK(error_of([] { RandomVerticalFlip(-1); }) == "RandomVerticalFlip: p must lie in [0, 1], not -1");
}

}  // namespace data_transforms_flip
