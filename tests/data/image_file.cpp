// Pictures of all kinds as Pillow reads them, and pictures that are not what they say.
#include "../io/recorded_bytes.hpp"
#include "../io/temporary_folder.hpp"

#include <zlib.h>

#include <ctime>

#include <tern/data/encode_jpeg.hpp>
#include <tern/data/image_file.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/data/transforms.hpp>

#include "picture_bytes.hpp"

namespace data_image_file {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The bytes [H, W, 3] that a read picture came from.
std::string pixels_of(const data::Image& image) {
  std::string out;
  const Index plane = image.height() * image.width();
  for (Index i = 0; i < plane; ++i)
    for (Index c = 0; c < 3; ++c) out += char(int(std::lround(255 * image.data()[c * plane + i])));
  return out;
}

std::string refusal_of(const TemporaryFolder& folder, const std::string& bytes) {
  const std::string path = folder.put("x.jpg", bytes);
  data::Image image;
  const std::string error = error_of([&] { data::read_image(path, image); });
  const std::string start = "image: '" + path + "': ";
  return error.starts_with(start) ? error.substr(start.size()) : error;
}

/// Files of many kinds: those that Pillow wrote, which are small; JPEG files of odd sizes, several blocks wide and high, for each way to store
/// colours; and photographs where there are any.
std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const Json& recorded : recorded_cases("pictures")) found.push_back(bytes_of(recorded["file"]));
  for (const Index channels : {1, 3})
    for (const auto& [height, width] : {std::pair<Index, Index>{33, 95}, {131, 64}, {200, 171}}) {
      const auto image = empty<Cpu, std::uint8_t>({channels, height, width});
      for (Index i = 0; i < image.numel(); ++i) image.data()[i] = std::uint8_t(i * i / 7 ^ i >> 3);
      found.push_back(data::encode_jpeg(image));
    }
  for (const bool progressive : {false, true}) {
    for (const auto& [across, down] : {std::pair{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2}})
      found.push_back(jpeg_bytes({.width = 301, .height = 187, .progressive = progressive, .across = across, .down = down}));
    for (const J_COLOR_SPACE colours : {JCS_CMYK, JCS_GRAYSCALE})
      found.push_back(jpeg_bytes({.width = 203, .height = 141, .progressive = progressive, .colours = colours}));
  }
  if (const char* const folder = std::getenv("TERN_TEST_DATA"))
    for (const char* const name : {"autumn/autumn_1.jpg", "summer/summer_3.jpg"})
      found.push_back(io::read_file(std::string(folder) + "/data/imagefolder/" + name, 1 << 20));
  return found;
}

}  // namespace

TEST_CASE("a window has the pixels that the whole picture has there", "[data]") {
  data::Random random({7, 0}, 0, 0);
  for (const std::string& file : files()) {
    data::Image whole, window;
    data::decode_image("whole", file, whole);
    for (int i = 0; i < 40; ++i) {
      const Index height = 1 + random.below(whole.height()), width = 1 + random.below(whole.width());
      const Index top = random.below(whole.height() - height + 1), left = random.below(whole.width() - width + 1);
      data::decode_image("window", file, window, [&](Index rows, Index columns) -> data::ImageWindow {
        CHECK(rows == whole.height());
        CHECK(columns == whole.width());
        return {top, left, height, width, {height, width}};
      });
      REQUIRE(window.height() == height);
      REQUIRE(window.width() == width);
      Index different = 0;
      for (Index c = 0; c < 3; ++c)
        for (Index y = 0; y < height; ++y)
          for (Index x = 0; x < width; ++x)
            different += window.data()[(c * height + y) * width + x] != whole.data()[(c * whole.height() + top + y) * whole.width() + left + x];
      CAPTURE(top, left, height, width, whole.height(), whole.width());
      CHECK(different == 0);
    }
  }
}

TEST_CASE("a file that is cut off is refused where the window reaches the cut, and read above it", "[data]") {
  const std::string file = jpeg_bytes({400, 400}), cut = file.substr(0, file.size() / 2);
  data::Image whole, window;
  data::decode_image("whole", file, whole);
  int read = 0, refused = 0;
  for (Index top = 0; top < 400; top += 20)
    for (const Index left : {0, 190, 380}) {
      const std::string error =
          error_of([&] { data::decode_image("'x'", cut, window, [&](Index, Index) { return data::ImageWindow{top, left, 20, 20, 20}; }); });
      CAPTURE(top, left, error);
      if (!error.empty()) {
        CHECK(error.starts_with("image: 'x': Premature end of JPEG file"));
        CHECK(top > 100);
        ++refused;
        continue;
      }
      CHECK(top < 300);
      for (Index y = 0; y < 20; ++y)
        for (Index x = 0; x < 20; ++x) REQUIRE(window.data()[20 * y + x] == whole.data()[400 * (top + y) + left + x]);
      ++read;
    }
  CHECK(read > 0);
  CHECK(refused > 0);
}

TEST_CASE("damage is found by a window that reaches as far down as the picture, whatever its columns", "[data]") {
  const std::string file = jpeg_bytes({203, 141});
  int refused = 0, differed = 0;
  data::Image sound, whole, window;
  data::decode_image("sound", file, sound);
  for (std::size_t i = jpeg_segment(file, "\xda"); i < file.size(); i += 5) {
    std::string damaged = file;
    damaged[i] = char(damaged[i] ^ 0x55);
    const std::string error = error_of([&] { data::decode_image("'x'", damaged, whole); });
    for (const data::ImageWindow& part : {data::ImageWindow{0, 99, 141, 31, {141, 31}}, {100, 150, 41, 53, {41, 53}}}) {
      CAPTURE(i, part.top);
      CHECK(error_of([&] { data::decode_image("'x'", damaged, window, [&](Index, Index) { return part; }); }) == error);
      if (!error.empty()) continue;
      Index different = 0;
      for (Index y = 0; y < part.height; ++y)
        for (Index x = 0; x < part.width; ++x) {
          const Index there = 203 * (part.top + y) + part.left + x;
          different += window.data()[part.width * y + x] != whole.data()[there];
          differed += whole.data()[there] != sound.data()[there];
        }
      CHECK(different == 0);
    }
    refused += !error.empty();
  }
  CHECK(refused > 10);
  CHECK(differed > 0);
}

TEST_CASE("a window is resized as a crop is", "[data]") {
  for (const std::string& file : files()) {
    data::Random random({7, 0}, 0, 0), same({7, 0}, 0, 0);
    const data::transforms::RandomResizedCrop crop({21, 34}, {.scale = {0.05, 0.2}});
    for (int i = 0; i < 10; ++i) {
      data::Image whole, window;
      data::decode_image("whole", file, whole);
      crop(whole, random);
      data::decode_image("window", file, window, [&](Index height, Index width) { return crop.window(height, width, same); });
      REQUIRE(window.numel() == whole.numel());
      float largest = 0;
      for (Index k = 0; k < whole.numel(); ++k) largest = std::max(largest, std::abs(whole.data()[k] - window.data()[k]));
      CHECK(largest < 2e-6f);
    }
  }
}

TEST_CASE("a large window is decoded at reduced size, with nearly the same pixels", "[data]") {
  // Waves with a period of at least 100 pixels: an average over 8 takes a hundredth of their height, which is 60.
  const auto picture = empty<Cpu, std::uint8_t>({3, 1203, 1601});
  for (Index c = 0; c < 3; ++c)
    for (Index y = 0; y < 1203; ++y)
      for (Index x = 0; x < 1601; ++x)
        picture.data()[(c * 1203 + y) * 1601 + x] = std::uint8_t(128 + 60 * std::sin(0.04 * double(x + y)) + 60 * std::cos(0.06 * double(y) - 0.02 * double(x) + double(c)));
  const std::string file = data::encode_jpeg(picture, {.quality = 95});
  data::Image whole;
  data::decode_image("whole", file, whole);
  const std::vector<float> all(whole.data(), whole.data() + whole.numel());
  for (const auto& [window, factor] : {std::pair<data::ImageWindow, Index>{{0, 0, 1203, 1601, 300}, 2}, {{3, 5, 1190, 1590, {140, 190}}, 4},
                                       {{101, 207, 803, 1009, {49, 61}}, 8}, {{9, 9, 1100, 1500, 299}, 1}}) {
    CHECK(data::detail::reduction(window) == factor);
    data::Image reduced;
    data::decode_image("reduced", file, reduced, [&, &w = window](Index, Index) { return w; });
    std::copy(all.begin(), all.end(), whole.replace(3, 1203, 1601));
    data::transforms::detail::crop(whole, window.top, window.left, {window.height, window.width}, 0);
    data::transforms::detail::resize(whole, window.size);
    REQUIRE(reduced.numel() == whole.numel());
    double sum = 0;
    for (Index k = 0; k < whole.numel(); ++k) sum += std::abs(double(whole.data()[k]) - double(reduced.data()[k]));
    CAPTURE(factor, 255 * sum / double(whole.numel()));
    CHECK(255 * sum / double(whole.numel()) < (factor == 1 ? 1e-3 : 1));
  }
}

TEST_CASE("a window outside the picture is refused", "[data]") {
  const std::string file = data::encode_jpeg(zeros<Cpu, std::uint8_t>({3, 20, 30}));
  data::Image image;
  const auto refusal = [&](const data::ImageWindow& window) {
    return error_of([&] { data::decode_image("'x'", file, image, [&](Index, Index) { return window; }); });
  };
  CHECK(refusal({0, 0, 21, 30, 4}) == "image: 'x': has 20 x 30 pixels and no window of 21 x 30 at (0, 0)");
  for (const data::ImageWindow window : {data::ImageWindow{-1, 0, 5, 5, 4}, {0, -1, 5, 5, 4}, {16, 0, 5, 5, 4}, {0, 26, 5, 5, 4}, {0, 0, 0, 5, 4}, {0, 0, 5, 0, 4}})
    CHECK(refusal(window).starts_with("image: 'x': has 20 x 30 pixels and no window"));
}

TEST_CASE("pictures of every kind are read as by Pillow, whatever their names", "[data]") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("pictures")) {
    INFO(recorded["name"]);
    ++seen;
    for (const char* const name : {"a.png", "a.jpg", "a"}) {
      data::Image image;
      data::read_image(folder.put(name, bytes_of(recorded["file"])), image);
      CHECK(image.channels() == 3);
      CHECK(image.width() == recorded["size"][0].get<Index>());
      CHECK(image.height() == recorded["size"][1].get<Index>());
      CHECK(pixels_of(image) == bytes_of(recorded["pixels"]));
    }
  }
  CHECK(seen == 16);
}

TEST_CASE("the upper byte of 16-bit grey is read, and interlaced rows come in order", "[data]") {
  const TemporaryFolder folder;
  data::Image image;
  data::read_image(folder.put("grey.png", png_bytes({3, 1, 16, 0}, {std::string("\x00\xff\x80\x00\xff\xfe", 6)})), image);
  CHECK(pixels_of(image) == std::string("\x00\x00\x00\x80\x80\x80\xff\xff\xff", 9));
  // Of 2 x 2 interlaced pixels, pass 1 has the first, pass 6 the second, pass 7 the lower row.
  data::read_image(folder.put("x.png", png_bytes({2, 2, 8, 0, 1}, {"a", "b", "cd"})), image);
  CHECK(pixels_of(image) == "aaabbbcccddd");
}

TEST_CASE("a picture with too many pixels is refused before it is decoded", "[data]") {
  const TemporaryFolder folder;
  const std::clock_t start = std::clock();
  for (const bool progressive : {false, true}) {
    std::string jpeg = jpeg_bytes({8, 8, progressive});
    set_jpeg_size(jpeg, 65500, 65500);
    CHECK(refusal_of(folder, jpeg) == "is of 65500 x 65500 pixels; at most 178956970 are read");
    set_jpeg_size(jpeg, 10000, 10000);
    CHECK(refusal_of(folder, jpeg) == "is of 10000 x 10000 pixels, more than its bytes can hold");
  }
  CHECK(refusal_of(folder, png_bytes({65500, 65500, 8, 2}, {""})) == "is of 65500 x 65500 pixels; at most 178956970 are read");
  CHECK(refusal_of(folder, png_bytes({10000, 10000, 8, 2}, {""})) == "is of 10000 x 10000 pixels, more than its bytes can hold");
  CHECK(std::clock() - start < CLOCKS_PER_SEC);
}

TEST_CASE("a JPEG with too many scans is refused, and one that stops early at its end", "[data]") {
  const TemporaryFolder folder;
  const std::string jpeg = jpeg_bytes({64, 64, true});
  CHECK(refusal_of(folder, jpeg) == "");
  CHECK(refusal_of(folder, jpeg_bytes({.width = 64, .height = 64, .colours = JCS_GRAYSCALE, .many_scans = true})) == "");
  CHECK(refusal_of(folder, jpeg_bytes({.width = 64, .height = 64, .many_scans = true})) == "has more than 100 scans");
  CHECK_THAT(refusal_of(folder, jpeg.substr(0, jpeg.size() / 2)), ContainsSubstring("Premature end of JPEG file"));
}

TEST_CASE("texts in a PNG file take no memory", "[data]") {
  const TemporaryFolder folder;
  uLongf size = 100'000;
  std::string packed(size, '\0');
  const std::string text(7'000'000, 'x');
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size()) == Z_OK);
  packed.resize(size);
  std::string chunks;
  for (int i = 0; i < 100; ++i) chunks += png_chunk("zTXt", std::string("x\0\0", 3) + packed);
  const std::clock_t start = std::clock();
  CHECK(refusal_of(folder, png_bytes({1, 1, 8, 0}, {"a"}, chunks)) == "");
  CHECK(std::clock() - start < CLOCKS_PER_SEC / 3);  // to unpack 700 MB takes longer
}

TEST_CASE("what is no picture, or none of a size, is refused", "[data]") {
  const TemporaryFolder folder;
  CHECK(refusal_of(folder, "") == "is neither a JPEG nor a PNG file");
  CHECK(refusal_of(folder, "GIF89a") == "is neither a JPEG nor a PNG file");
  data::Image image;
  CHECK(error_of([&] { data::read_image(folder / "none.jpg", image); }) ==
        "file: '" + (folder / "none.jpg") + "': cannot be opened: No such file or directory");
  CHECK(error_of([&] { image.replace(3, Index(1) << 40, Index(1) << 40); }) ==
        "image: cannot be of [3, 1099511627776, 1099511627776]");
  CHECK(error_of([&] { image.replace(1, Index(1) << 30, Index(1) << 32); }) ==
        "image: '[1, 1073741824, 4294967296]': the host has not enough memory for it");
}

}  // namespace data_image_file
