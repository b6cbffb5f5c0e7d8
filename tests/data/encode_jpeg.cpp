#include "support/catch.hpp"
#include "support/errors.hpp"

#include <tern/data/encode_jpeg.hpp>
#include <tern/data/image_file.hpp>

namespace data_encode_jpeg {
using namespace tern;
using tern_test::error_of;

namespace {

/// A smooth picture, which JPEG keeps well.
Tensor<Cpu, std::uint8_t> smooth(Index channels, Index height, Index width) {
  const auto image = empty<Cpu, std::uint8_t>({channels, height, width});
  for (Index c = 0; c < channels; ++c)
    for (Index y = 0; y < height; ++y)
      for (Index x = 0; x < width; ++x)
        image.data()[(c * height + y) * width + x] =
            std::uint8_t(128 + 100 * std::sin(0.05 * double(x + 2 * c)) * std::cos(0.04 * double(y)));
  return image;
}

/// The mean difference of the picture that libjpeg reads from the file, of 255.
double mean_error(const Tensor<Cpu, std::uint8_t>& image, const std::string& file) {
  data::Image read;
  data::decode_image("test", file, read);
  REQUIRE(read.channels() == 3);
  REQUIRE(read.height() == image.size(1));
  REQUIRE(read.width() == image.size(2));
  double sum = 0;
  const Index plane = image.size(1) * image.size(2);
  for (Index i = 0; i < 3 * plane; ++i)
    sum += std::abs(double(image.data()[i % (image.size(0) * plane)]) - 255 * double(read.data()[i]));
  return sum / double(3 * plane);
}

}  // namespace

TEST_CASE("an encoded JPEG is the picture, the nearer the higher its quality") {
  for (const Index channels : {1, 3})
    for (const Index height : {1, 8, 61})
      for (const Index width : {1, 16, 83}) {
        CAPTURE(channels, height, width);
        CHECK(mean_error(smooth(channels, height, width),
                         data::encode_jpeg(smooth(channels, height, width), {.quality = 98})) < 1.5);
      }
  const auto image = smooth(3, 120, 160);
  const std::string coarse = data::encode_jpeg(image, {.quality = 10}), usual = data::encode_jpeg(image),
                    fine = data::encode_jpeg(image, {.quality = 98});
  CHECK(coarse.size() < usual.size());
  CHECK(usual.size() < fine.size());
  CHECK(mean_error(image, fine) < mean_error(image, usual));
  CHECK(mean_error(image, usual) < mean_error(image, coarse));
}

TEST_CASE("a view is encoded as its copy") {
  const auto image = smooth(3, 40, 50).transpose(1, 2);
  CHECK(data::encode_jpeg(image) == data::encode_jpeg(image.clone()));
}

TEST_CASE("what is no picture is not encoded as a JPEG") {
  CHECK(error_of([] { data::encode_jpeg(smooth(2, 4, 4)); }) == "encode_jpeg: images have 1 or 3 channels, not 2");
  CHECK(error_of([] { data::encode_jpeg(smooth(3, 4, 4)[0]); }) ==
        "encode_jpeg: an image is [C, H, W] and not empty, but the shape is [4, 4]");
  CHECK(error_of([] { data::encode_jpeg(smooth(3, 0, 4)); }) ==
        "encode_jpeg: an image is [C, H, W] and not empty, but the shape is [3, 0, 4]");
  CHECK(error_of([] { data::encode_jpeg(smooth(1, 1, 70000)); }) ==
        "encode_jpeg: an image of 1 x 70000 is too large; the most is 65500 a side");
  for (const int quality : {0, 101})
    CHECK(error_of([&] { data::encode_jpeg(smooth(1, 4, 4), {.quality = quality}); }) ==
          "encode_jpeg: quality must be in [1, 100], not " + std::to_string(quality));
}

}  // namespace data_encode_jpeg
