// Pictures of all kinds as Pillow reads them, and pictures that are not what they say. Over 400 lines, because all
// cases share the bytes that they are written from.
#include "../io/recorded_bytes.hpp"
#include "../io/temporary_folder.hpp"

#include <zlib.h>

#include <array>
#include <ctime>

#include <tern/data/encode_jpeg.hpp>
#include <tern/data/image_file.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/data/save_image.hpp>
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

/// Files of many kinds: those that Pillow wrote, which are small; JPEG files of odd sizes, several blocks wide and
/// high, for each way to store colours; and photographs where there are any.
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
      found.push_back(
          jpeg_bytes({.width = 301, .height = 187, .progressive = progressive, .across = across, .down = down}));
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
            different += window.data()[(c * height + y) * width + x] !=
                         whole.data()[(c * whole.height() + top + y) * whole.width() + left + x];
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
      const std::string error = error_of([&] {
        data::decode_image("'x'", cut, window, [&](Index, Index) { return data::ImageWindow{top, left, 20, 20, 20}; });
      });
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
      data::decode_image("window", file, window,
                         [&](Index height, Index width) { return crop.window(height, width, same); });
      REQUIRE(window.numel() == whole.numel());
      float largest = 0;
      for (Index k = 0; k < whole.numel(); ++k)
        largest = std::max(largest, std::abs(whole.data()[k] - window.data()[k]));
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
        picture.data()[(c * 1203 + y) * 1601 + x] = std::uint8_t(
            128 + 60 * std::sin(0.04 * double(x + y)) + 60 * std::cos(0.06 * double(y) - 0.02 * double(x) + double(c)));
  const std::string file = data::encode_jpeg(picture, {.quality = 95});
  data::Image whole;
  data::decode_image("whole", file, whole);
  const std::vector<float> all(whole.data(), whole.data() + whole.numel());
  for (const auto& [window, factor] : {std::pair<data::ImageWindow, Index>{{0, 0, 1203, 1601, 300}, 2},
                                       {{3, 5, 1190, 1590, {140, 190}}, 4},
                                       {{101, 207, 803, 1009, {49, 61}}, 8},
                                       {{9, 9, 1100, 1500, 299}, 1}}) {
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
  for (const data::ImageWindow window : {data::ImageWindow{-1, 0, 5, 5, 4},
                                         {0, -1, 5, 5, 4},
                                         {16, 0, 5, 5, 4},
                                         {0, 26, 5, 5, 4},
                                         {0, 0, 0, 5, 4},
                                         {0, 0, 5, 0, 4}})
    CHECK(refusal(window).starts_with("image: 'x': has 20 x 30 pixels and no window"));
}

TEST_CASE("pictures of every kind are read as by Pillow, whatever their names", "[data]") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("pictures")) {
    if (!recorded.contains("pixels")) continue;
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
  CHECK(seen == 39);
}

TEST_CASE("pictures are turned and mirrored as EXIF data say, if that is asked for, and so are their windows",
          "[data]") {
  int seen = 0;
  for (const Json& recorded : recorded_cases("pictures")) {
    if (!recorded.contains("turned")) continue;
    INFO(recorded["name"]);
    ++seen;
    const std::string file = bytes_of(recorded["file"]), turned = bytes_of(recorded["turned"]);
    const data::ImageOptions options{.apply_exif_orientation = true};
    data::Image image, window;
    data::decode_image("x", file, image, options);
    const Index height = image.height(), width = image.width();
    CHECK(width == recorded["turned_size"][0].get<Index>());
    CHECK(height == recorded["turned_size"][1].get<Index>());
    CHECK(pixels_of(image) == turned);
    CHECK(image.warnings() == 0);
    const auto samples = data::decode_pixels("x", file, options);
    REQUIRE(samples.shape() == detail::Shape{3, height, width});
    for (Index i = 0; i < samples.numel(); ++i) CHECK(samples.data()[i] == std::lround(255 * image.data()[i]));
    for (const data::ImageWindow& part :
         {data::ImageWindow{1, 0, 2, 3, {2, 3}}, {0, 2, 3, 1, {3, 1}}, {1, 1, 1, 2, {1, 2}}}) {
      data::decode_image(
          "x", file, window,
          [&](Index rows, Index columns) {
            CHECK(rows == height);
            CHECK(columns == width);
            return part;
          },
          options);
      REQUIRE(window.height() == part.height);
      for (Index y = 0; y < part.height; ++y)
        for (Index x = 0; x < part.width; ++x)
          CHECK(window.data()[y * part.width + x] == image.data()[(part.top + y) * width + part.left + x]);
    }
  }
  CHECK(seen == 20);
}

TEST_CASE("a window of a turned picture is resized as a crop of it, at reduced size too", "[data]") {
  const std::string plain = jpeg_bytes({301, 187});
  for (const int orientation : {1, 2, 3, 4, 5, 6, 7, 8}) {
    CAPTURE(orientation);
    // An EXIF segment of one entry behind the file's first two bytes.
    const std::string exif =
        std::string("Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0", 25) + char(orientation) + std::string(6, '\0');
    const std::string file = plain.substr(0, 2) + "\xff\xe1" + big_endian(exif.size() + 2, 2) + exif + plain.substr(2);
    const data::ImageOptions options{.apply_exif_orientation = true};
    data::Image whole, window;
    for (const auto& [part, most] : {std::pair<data::ImageWindow, float>{{11, 23, 90, 140, {31, 45}}, 2e-6f},
                                     {{0, 20, 187, 160, {23, 31}}, 0.02f}}) {
      data::decode_image("whole", file, whole, options);
      CHECK(whole.height() == (orientation < 5 ? 187 : 301));
      data::transforms::detail::crop(whole, part.top, part.left, {part.height, part.width}, 0);
      data::transforms::detail::resize(whole, part.size);
      data::decode_image("window", file, window, [&, &w = part](Index, Index) { return w; }, options);
      REQUIRE(window.numel() == whole.numel());
      double sum = 0;
      for (Index k = 0; k < whole.numel(); ++k) sum += std::abs(double(whole.data()[k]) - double(window.data()[k]));
      CHECK(sum / double(whole.numel()) < double(most));
    }
  }
}

TEST_CASE("the numbers of a file's pixels are read as they are stored, 16 bits as 16 bits", "[data]") {
  const TemporaryFolder folder;
  int seen = 0;
  for (const Json& recorded : recorded_cases("pictures")) {
    if (!recorded.contains("samples")) continue;
    INFO(recorded["name"]);
    ++seen;
    const auto x = data::read_pixels(folder.put("x", bytes_of(recorded["file"])));
    const auto samples = recorded["samples"].get<std::vector<std::vector<std::vector<double>>>>();
    REQUIRE(x.shape() == detail::Shape{Index(samples.size()), Index(samples[0].size()), Index(samples[0][0].size())});
    std::vector<double> flat;
    for (const auto& plane : samples)
      for (const auto& row : plane) flat.insert(flat.end(), row.begin(), row.end());
    CHECK(values_of(x) == flat);
  }
  CHECK(seen == 35);
  // Of 2 x 2 interlaced pixels of 16 bits, pass 1 has the first, pass 6 the second, pass 7 the lower row.
  const auto x = data::decode_pixels(
      "x", png_bytes({2, 2, 16, 0, 1}, {std::string("\1\2", 2), std::string("\3\4", 2), std::string("\5\6\7\10", 4)}));
  CHECK(values_of(x) == std::vector<double>{0x102, 0x304, 0x506, 0x708});
  CHECK(error_of([&] { data::decode_pixels("'x'", "GIF89a"); }) ==
        "image: 'x': is neither a JPEG nor a PNG file, but a GIF picture");
}

TEST_CASE("a JPEG with stray bytes or markers is read, and the warnings are counted", "[data]") {
  for (const bool progressive : {false, true})
    for (const J_COLOR_SPACE colours : {JCS_RGB, JCS_GRAYSCALE}) {
      CAPTURE(progressive, int(colours));
      const std::string file = jpeg_bytes({.width = 61, .height = 43, .progressive = progressive, .colours = colours});
      data::Image plain, image;
      data::decode_image("x", file, plain);
      CHECK(plain.warnings() == 0);
      const auto check = [&](const std::string& strange, Index warnings) {
        data::decode_image("x", strange, image);
        CHECK(image.warnings() == warnings);
        CHECK(std::equal(plain.data(), plain.data() + plain.numel(), image.data()));
        CHECK(equal(data::decode_pixels("x", strange), data::decode_pixels("x", file)));
        data::decode_image("x", strange, image, [](Index, Index) { return data::ImageWindow{20, 30, 10, 9, {10, 9}}; });
        CHECK(image.data()[0] == plain.data()[20 * 61 + 30]);
      };
      const auto with = [&](std::size_t at, const std::string& stray) {
        return file.substr(0, at) + stray + file.substr(at);
      };
      const std::size_t tables = jpeg_segment(file, "\xdb");
      check(with(tables, std::string("\0\1\2", 3)), 1);
      check(with(tables, "\xff\xff\xff"), 0);                 // bytes that fill up
      check(with(tables, "\xff\xd0\xff\x01"), 0);             // a restart marker, and a reserved one
      check(with(file.size() - 2, std::string(30, 'x')), 1);  // more than the decoder has read ahead
      check(with(file.size(), "more"), 0);
    }
}

TEST_CASE("YCCK is read as the CMYK that it stores, and RGB that is stored as RGB", "[data]") {
  // What Pillow 13.0 reads at these rows and columns.
  data::Image image;
  const auto at = [&](Index y, Index x) {
    std::array<long, 3> out;
    for (Index c = 0; c < 3; ++c) out[std::size_t(c)] = std::lround(255 * image.data()[(c * 43 + y) * 61 + x]);
    return out;
  };
  data::decode_image("x", jpeg_bytes({.width = 61, .height = 43, .colours = JCS_CMYK, .stored = JCS_YCCK}), image);
  CHECK(at(0, 0) == std::array<long, 3>{0, 0, 0});
  CHECK(at(5, 7) == std::array<long, 3>{49, 51, 53});
  CHECK(at(20, 40) == std::array<long, 3>{21, 21, 22});
  data::decode_image("x", jpeg_bytes({.width = 61, .height = 43, .stored = JCS_RGB}), image);
  CHECK(at(0, 0) == std::array<long, 3>{2, 10, 13});
  CHECK(at(5, 7) == std::array<long, 3>{87, 91, 94});
  CHECK(at(20, 40) == std::array<long, 3>{196, 211, 210});
}

TEST_CASE("a damaged picture is an Error, or what can be read of it if that is allowed", "[data]") {
  const data::ImageOptions allowed{.allow_damaged = true};
  data::Image whole, part, window;
  const auto same_rows = [&] {
    const Index plane = whole.height() * whole.width();
    Index rows = 0;
    for (bool same = true; same && rows < whole.height(); rows += same)
      for (Index c = 0; c < 3; ++c) {
        const float* const a = whole.data() + c * plane + rows * whole.width();
        same = same && std::equal(a, a + whole.width(), part.data() + c * plane + rows * whole.width());
      }
    return rows;
  };
  std::string pixels;
  for (int i = 0; i < 3 * 60 * 80; ++i) pixels += char(i * i / 7 ^ i >> 3);
  const auto picture = empty<Cpu, std::uint8_t>({3, 60, 80});
  for (Index i = 0; i < picture.numel(); ++i) picture.data()[i] = static_cast<unsigned char>(pixels[std::size_t(i)]);
  for (const std::string& file : {data::encode_jpeg(picture), data::encode_png(picture),
                                  jpeg_bytes({.width = 80, .height = 60, .colours = JCS_CMYK})}) {
    data::decode_image("whole", file, whole);
    const std::string cut = file.substr(0, file.size() * 2 / 3);
    CHECK(error_of([&] { data::decode_image("'x'", cut, part); }).starts_with("image: 'x': "));
    data::decode_image("'x'", cut, part, allowed);
    CHECK(part.warnings() > 0);
    CHECK(part.height() == 60);
    CHECK(same_rows() > 20);
    CHECK(same_rows() < 50);
    data::decode_image(
        "'x'", cut, window, [](Index, Index) { return data::ImageWindow{10, 20, 50, 30, {50, 30}}; }, allowed);
    CHECK(window.warnings() > 0);
    for (Index y = 0; y < 50; ++y) CHECK(window.data()[30 * y] == part.data()[80 * (10 + y) + 20]);
    const auto samples = data::decode_pixels("'x'", cut, allowed);
    CHECK(samples.numel() == 3 * 60 * 80);
    CHECK(samples(0, 0, 79) == std::lround(255 * whole.data()[79]));
    CHECK(error_of([&] { data::decode_pixels("'x'", cut); }).starts_with("image: 'x': "));
    // Every header that is damaged is an Error all the same.
    for (std::size_t n = 0; n < 30; ++n)
      CHECK(error_of([&] { data::decode_image("'x'", file.substr(0, n), part, allowed); }) != "");
  }
  // A wrong checksum is damage.
  std::string file = data::encode_png(picture);
  file[file.size() - 13] = char(file[file.size() - 13] ^ 1);
  CHECK(error_of([&] { data::decode_image("'x'", file, part); }) == "image: 'x': IDAT: CRC error");
  data::decode_image("'x'", file, part, allowed);
  CHECK(part.warnings() == 1);
  data::decode_image("whole", data::encode_png(picture), whole);
  CHECK(same_rows() == 60);
}

TEST_CASE("the upper byte of 16-bit grey is read, and interlaced rows come in order", "[data]") {
  const TemporaryFolder folder;
  data::Image image;
  const Tensor<Cpu> pixels =
      data::read_image(folder.put("grey.png", png_bytes({3, 1, 16, 0}, {std::string("\x00\xff\x80\x00\xff\xfe", 6)})));
  CHECK(pixels.shape() == tern::detail::Shape{3, 1, 3});
  CHECK(pixels.to_vector()[5] == 1);
  data::read_image(folder.put("grey.png", png_bytes({3, 1, 16, 0}, {std::string("\x00\xff\x80\x00\xff\xfe", 6)})),
                   image);
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
  CHECK(refusal_of(folder, png_bytes({65500, 65500, 8, 2}, {""})) ==
        "is of 65500 x 65500 pixels; at most 178956970 are read");
  CHECK(refusal_of(folder, png_bytes({10000, 10000, 8, 2}, {""})) ==
        "is of 10000 x 10000 pixels, more than its bytes can hold");
  CHECK(std::clock() - start < CLOCKS_PER_SEC);
}

TEST_CASE("a JPEG with too many scans is refused, and one that stops early at its end", "[data]") {
  const TemporaryFolder folder;
  const std::string jpeg = jpeg_bytes({64, 64, true});
  CHECK(refusal_of(folder, jpeg) == "");
  CHECK(refusal_of(folder, jpeg_bytes({.width = 64, .height = 64, .colours = JCS_GRAYSCALE, .many_scans = true})) ==
        "");
  CHECK(refusal_of(folder, jpeg_bytes({.width = 64, .height = 64, .many_scans = true})) == "has more than 100 scans");
  CHECK_THAT(refusal_of(folder, jpeg.substr(0, jpeg.size() / 2)), ContainsSubstring("Premature end of JPEG file"));
}

TEST_CASE("texts in a PNG file take no memory", "[data]") {
  const TemporaryFolder folder;
  uLongf size = 100'000;
  std::string packed(size, '\0');
  const std::string text(7'000'000, 'x');
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                   text.size()) == Z_OK);
  packed.resize(size);
  std::string chunks;
  for (int i = 0; i < 100; ++i) chunks += png_chunk("zTXt", std::string("x\0\0", 3) + packed);
  const std::clock_t start = std::clock();
  CHECK(refusal_of(folder, png_bytes({1, 1, 8, 0}, {"a"}, chunks)) == "");
  CHECK(std::clock() - start < CLOCKS_PER_SEC / 3);  // to unpack 700 MB takes longer
}

TEST_CASE("what is no picture, or none of a size, is refused", "[data]") {
  const TemporaryFolder folder;
  const std::string rule = "is neither a JPEG nor a PNG file";
  CHECK(refusal_of(folder, "text") == rule);
  CHECK(refusal_of(folder, "") == "is empty");
  CHECK(refusal_of(folder, "GIF89a") == rule + ", but a GIF picture");
  CHECK(refusal_of(folder, "version https://git-lfs.github.com/spec/v1\n") ==
        rule + ", but a pointer of Git LFS; git lfs pull fetches the file");
  data::Image image;
  CHECK(error_of([&] { data::read_image(folder / "none.jpg", image); }) ==
        "file: '" + (folder / "none.jpg") + "': cannot be opened: No such file or directory");
  CHECK(error_of([&] { image.replace(3, Index(1) << 40, Index(1) << 40); }) ==
        "image: cannot be of [3, 1099511627776, 1099511627776]");
  CHECK(error_of([&] { image.replace(1, Index(1) << 30, Index(1) << 32); }) ==
        "image: '[1, 1073741824, 4294967296]': the host has not enough memory for it");
}

TEST_CASE("an Error of a picture ends with the user's line", "[data]") {
  using namespace data;
  const TemporaryFolder folder;
  const std::string missing = folder / "missing";
  const auto whole = [](Index height, Index width) { return ImageWindow{0, 0, height, width, {height, width}}; };
  const auto no_picture = ones<Cpu, std::uint8_t>({3});
  Image image;
  TERN_TEST_LINE(read_image(missing, image));
  TERN_TEST_LINE(read_image(missing, image, whole));
  TERN_TEST_LINE(decode_image("x", "text", image));
  TERN_TEST_LINE(decode_image("x", "text", image, whole));
  TERN_TEST_LINE(read_pixels(missing));
  TERN_TEST_LINE(decode_pixels("x", "text"));
  TERN_TEST_LINE(ImageFolder::load(missing));
  TERN_TEST_LINE(make_grid(ones<Cpu>({3})));
  TERN_TEST_LINE(encode_png(no_picture));
  TERN_TEST_LINE(encode_jpeg(no_picture));
  TERN_TEST_LINE(save_image(ones<Cpu>({3, 2, 2}), folder.put("text", "") + "/x.png"));
}

}  // namespace data_image_file
