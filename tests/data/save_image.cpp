#include "support/recorded.hpp"

#include <png.h>

#include <tern/data/image_file.hpp>
#include <tern/data/save_image.hpp>

#include "../io/temporary_folder.hpp"

namespace data_save_image {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Picture {
  std::vector<Index> size;  // height, width, channels
  std::vector<int> pixels;
};

/// The file as libpng reads it.
Picture read_png(const std::string& path, int channels) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&png, path.c_str()));
  CHECK(png.format == (channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB));
  std::vector<unsigned char> bytes(PNG_IMAGE_SIZE(png));
  REQUIRE(png_image_finish_read(&png, nullptr, bytes.data(), 0, nullptr));
  return {{png.height, png.width, channels}, {bytes.begin(), bytes.end()}};
}

template <Device D, class T = float>
Tensor<D, T> waves(const tern::detail::Shape& shape) {
  std::vector<double> values;
  Index count = 1;
  for (int i = 0; i < shape.n; ++i) count *= shape[i];
  for (Index i = 0; i < count; ++i) values.push_back(0.5 + 0.7 * std::sin(0.37 * double(i)));
  return tensor_of<D, T>(values, shape);
}

data::GridOptions options_of(const Json& o) {
  data::GridOptions options;
  options.nrow = o.value("nrow", options.nrow);
  options.padding = o.value("padding", options.padding);
  options.pad_value = o.value("pad_value", options.pad_value);
  options.normalize = o.value("normalize", options.normalize);
  options.scale_each = o.value("scale_each", options.scale_each);
  if (o.contains("value_range")) options.value_range.emplace(o["value_range"][0], o["value_range"][1]);
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("save_image writes torchvision's pixels", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "grid.png";
  for (const Json& recorded : recorded_cases("image_grids")) {
    INFO(recorded["shape"] << ' ' << recorded["options"]);
    tern::detail::Shape shape;
    for (const Json& size : recorded["shape"]) shape.push_back(size.get<Index>());
    const auto images = waves<D>(shape);
    data::save_image(images, path, options_of(recorded["options"]));
    const Picture picture = read_png(path, recorded["size"][2]);
    CHECK(picture.size == recorded["size"].get<std::vector<Index>>());
    const auto expected = recorded["pixels"].get<std::vector<int>>();
    REQUIRE(picture.pixels.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(picture.pixels[i] == expected[i]);
  }
}

TEMPLATE_TEST_CASE("save_image takes views and other types, and refuses what is no picture", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "x.png";
  const auto image = waves<D>({3, 4, 5});
  data::save_image(image.transpose(1, 2), path);
  const Picture turned = read_png(path, 3);
  CHECK(turned.size == std::vector<Index>{5, 4, 3});
  CHECK(turned.pixels[3] == int(std::clamp(double(values_of(image)[5]), 0., 1.) * 255 + 0.5));
  auto wide = image.to(f64);
  wide.requires_grad_();
  data::save_image(wide, path);
  const Picture of_doubles = read_png(path, 3);
  data::save_image(image, path);
  CHECK(of_doubles.pixels == read_png(path, 3).pixels);

  const auto refuses = [&](const Tensor<D>& x, const std::string& to, const char* why,
                           const data::GridOptions& options = {}) {
    CHECK_THAT(error_of([&] { data::save_image(x, to, options); }), ContainsSubstring(why));
  };
  refuses({}, path, "save_image: a tensor is undefined");
  refuses(image, folder / "x.jpg", "a name must end in .png");
  refuses(image, folder / "none/x.png", "none/x.png");
  refuses(ones<D>({2, 4, 4}), path, "images have 1, 3 or 4 channels, not 2");
  refuses(ones<D>({4}), path, "images are [H, W], [C, H, W] or [N, C, H, W] and not empty, but the shape is [4]");
  refuses(ones<D>({0, 3, 4, 4}), path, "not empty");
  refuses(image, path, "nrow must be positive", {.nrow = 0});
  refuses(image, path, "value_range", {.normalize = true, .value_range = std::pair{1., 0.}});
}

TEST_CASE("bytes are encoded as a PNG without loss, grey ones too") {
  for (const Index channels : {1, 3}) {
    const auto image = empty<Cpu, std::uint8_t>({channels, 7, 11});
    for (Index i = 0; i < image.numel(); ++i) image.data()[i] = std::uint8_t(i * i * 37);
    const std::string file = data::encode_png(image);
    const TemporaryFolder folder;
    data::Image read;
    data::read_image(folder.put("a.png", file), read);
    REQUIRE(read.numel() == 3 * 7 * 11);
    for (Index i = 0; i < read.numel(); ++i)
      CHECK(read.data()[i] == float(image.data()[i % image.numel()]) * (1 / 255.f));
    CHECK(data::encode_png(image.transpose(1, 2)) == data::encode_png(image.transpose(1, 2).clone()));
  }
  CHECK(error_of([] { data::encode_png(zeros<Cpu, std::uint8_t>({2, 3, 3})); }) ==
        "encode_png: images have 1, 3 or 4 channels, not 2");
  CHECK(error_of([] { data::encode_png(zeros<Cpu, std::uint8_t>({3, 3})); }) ==
        "encode_png: an image is [C, H, W] and not empty, but the shape is [3, 3]");
}

TEST_CASE("make_grid takes torchvision's positional arguments") {
  const auto images = ones<Cpu>({5, 3, 4, 6});
  CHECK(data::make_grid(images, 4).shape() == data::make_grid(images, {.nrow = 4}).shape());
  CHECK(data::make_grid(images, 4, 1).shape() == data::make_grid(images, {.nrow = 4, .padding = 1}).shape());
}

}  // namespace data_save_image
