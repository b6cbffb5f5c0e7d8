#include "support/errors.hpp"

#include <tern/data/transforms/colour.hpp>

#include "transformed_image.hpp"

namespace data_transforms_colour {
using namespace tern;
using namespace tern::data::transforms;
using tern_test::error_of;
using tern_test::Json;
using tern_test::numbered_image;
using tern_test::transformed_image;

namespace {

/// An adjustment by a fixed amount, as a transform.
template <class F>
auto adjusted(F adjust) {
  return [adjust](const Tensor<Cpu>& x, const Json& args) {
    return transformed_image([&](data::Image& image, data::Random&) { adjust(image, args[0].get<float>()); }, x);
  };
}

/// [3, H, W] of values in [0, 1].
Tensor<Cpu> coloured_image(Index height, Index width) {
  const auto x = empty<Cpu>({3, height, width});
  for (Index i = 0; i < x.numel(); ++i)
    x.data()[i] = tern::detail::unit_float(tern::detail::philox(5, 1, std::uint64_t(i)).word[0]);
  return x;
}

}  // namespace

TEST_CASE("colours are adjusted as torchvision does", "[data]") {
  tern_test::check_recorded_images("brightness", 1e-6, adjusted(&data::transforms::detail::adjust_brightness));
  tern_test::check_recorded_images("contrast", 1e-6, adjusted(&data::transforms::detail::adjust_contrast));
  tern_test::check_recorded_images("saturation", 1e-6, adjusted(&data::transforms::detail::adjust_saturation));
  tern_test::check_recorded_images("hue", 2e-6, adjusted(&data::transforms::detail::adjust_hue));
}

TEST_CASE("jitter draws its factors from their ranges", "[data]") {
  auto x = coloured_image(2, 2);
  for (Index i = 0; i < 12; ++i) x.data()[i] = 0.25f + 0.2f * x.data()[i];  // nothing is cut off at 0 or 1
  double least = 10, most = 0, sum = 0;
  constexpr int n = 2000;
  for (Index sample = 0; sample < n; ++sample) {
    const double factor = double(transformed_image(ColorJitter({.brightness = 0.5f}), x, sample)(0, 0, 0) / x(0, 0, 0));
    least = std::min(least, factor), most = std::max(most, factor), sum += factor;
  }
  CHECK(least > 0.499);
  CHECK(least < 0.51);
  CHECK(most < 1.501);
  CHECK(most > 1.49);
  CHECK(std::abs(sum / n - 1) < 4 * std::sqrt(1. / 12 / n));
}

TEST_CASE("jitter's parts come in every order", "[data]") {
  const auto x = coloured_image(3, 3);
  const float brightness = 0.9f, contrast = 0.8f;
  int brightness_first = 0;
  for (Index sample = 0; sample < 200; ++sample) {
    const auto y = transformed_image(ColorJitter({.brightness = brightness, .contrast = contrast}), x, sample);
    // The same factors, drawn after the order, in both orders.
    const auto in_order = [&](bool first) {
      return transformed_image(
          [&](data::Image& image, data::Random& random) {
            for (int i = 4; i-- > 1;) random.below(i + 1);
            const float b = random.uniform(1 - brightness, 1 + brightness),
                        c = random.uniform(1 - contrast, 1 + contrast);
            if (first) data::transforms::detail::adjust_brightness(image, b);
            data::transforms::detail::adjust_contrast(image, c);
            if (!first) data::transforms::detail::adjust_brightness(image, b);
          },
          x, sample);
    };
    const bool first = tern_test::same_pixels(y, in_order(true));
    REQUIRE((first || tern_test::same_pixels(y, in_order(false))));
    brightness_first += first;
  }
  CHECK(brightness_first > 70);
  CHECK(brightness_first < 140);
}

TEST_CASE("a grey image has no saturation and no hue", "[data]") {
  auto x = numbered_image(1, 4, 4);
  for (Index i = 0; i < 16; ++i) x.data()[i] /= 16;
  CHECK(tern_test::same_pixels(transformed_image(ColorJitter({.saturation = 0.5f, .hue = 0.5f}), x), x));
  CHECK(!tern_test::same_pixels(transformed_image(ColorJitter({.contrast = 0.5f}), x), x));
}

TEST_CASE("normalising is (x - mean) / std of each channel", "[data]") {
  for (const Index width : {1, 3, 16, 37}) {
    const auto x = coloured_image(3, width);
    const auto y = transformed_image(Normalize({0.1f, 0.5f, 0.9f}, {0.2f, 0.5f, 2}), x);
    const double mean[] = {0.1, 0.5, 0.9}, std[] = {0.2, 0.5, 2};
    for (Index c = 0; c < 3; ++c)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < width; ++j)
          CHECK(y(c, i, j) == Approx((double(x(c, i, j)) - mean[c]) / std[c]).margin(1e-6));
  }
}

TEST_CASE("colours that cannot be are refused", "[data]") {
  CHECK(error_of([] { Normalize({1, 2}, {1}); }) ==
        "Normalize: one to four means and as many stds are needed, not 2 and 1");
  CHECK(error_of([] { Normalize({1}, {0}); }) == "Normalize: std must be positive, not 0");
  CHECK(error_of([] { transformed_image(Normalize({1, 2}, {1, 1}), numbered_image(3, 2, 2)); }) ==
        "Normalize: an image of 3 channels has no 2 means");
  CHECK(error_of([] { ColorJitter({.contrast = -1}); }) ==
        "ColorJitter: brightness, contrast and saturation must not be negative: -1");
  CHECK(error_of([] { ColorJitter({.hue = 1}); }) == "ColorJitter: hue must lie in [0, 0.5], not 1");
  CHECK(error_of([] { transformed_image(ColorJitter({.hue = 0.1f}), numbered_image(2, 2, 2)); }) ==
        "ColorJitter: an image of 2 channels has no colours");
}

TEST_CASE("means and stds may be doubles, and one be that of all channels", "[data]") {
  const auto x = coloured_image(3, 5);
  const std::vector<double> mean = {0.1, 0.5, 0.9}, std = {0.2, 0.5, 2};
  CHECK(tern_test::same_pixels(transformed_image(Normalize(mean, std), x),
                               transformed_image(Normalize({0.1f, 0.5f, 0.9f}, {0.2f, 0.5f, 2}), x)));
  CHECK(tern_test::same_pixels(transformed_image(Normalize({0.5f}, {0.25f}), x),
                               transformed_image(Normalize({0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}), x)));
}

TEST_CASE("ColorJitter takes torchvision's positional arguments", "[data]") {
  const auto x = coloured_image(3, 5);
  for (Index sample = 0; sample < 5; ++sample)
    CHECK(tern_test::same_pixels(
        transformed_image(ColorJitter(0.4, 0.3, 0.2, 0.1), x, sample),
        transformed_image(ColorJitter({.brightness = 0.4, .contrast = 0.3, .saturation = 0.2, .hue = 0.1}), x,
                          sample)));
}

}  // namespace data_transforms_colour
