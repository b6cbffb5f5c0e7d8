// Pictures of all kinds as Pillow reads them, and pictures that are not what they say.
#include "../io/recorded_bytes.hpp"
#include "../io/temporary_folder.hpp"

#include <zlib.h>

#include <ctime>

#include <tern/data/image_file.hpp>

#include "picture_bytes.hpp"

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

}  // namespace

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
