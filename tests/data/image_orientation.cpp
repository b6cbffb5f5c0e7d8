// EXIF's orientation: where the upright picture's pixels are, and headers that are damaged. tests/data/image_file.cpp
// reads files of each.
#include "support/catch.hpp"

#include <string>
#include <vector>

#include <tern/data/image_orientation.hpp>

#include "picture_bytes.hpp"

namespace data_image_orientation {
using namespace tern;
using data::detail::Orientation;
using tern_test::big_endian;

namespace {

/// A TIFF header and a directory of these entries: tag, type, count, value.
struct Entry {
  int tag, type, count;
  std::string value;  // four bytes
};
std::string tiff(bool little, const std::vector<Entry>& entries) {
  const auto number = [&](unsigned long n, int bytes) {
    std::string out = big_endian(n, bytes);
    return little ? std::string(out.rbegin(), out.rend()) : out;
  };
  std::string out = (little ? "II" : "MM") + number(42, 2) + number(8, 4) + number(entries.size(), 2);
  for (const Entry& e : entries)
    out += number(unsigned(e.tag), 2) + number(unsigned(e.type), 2) + number(unsigned(e.count), 4) + e.value;
  return out + std::string(4, '\0');
}

/// The numbers 0 … 5 of a file of 2 rows and 3 columns, upright, row by row.
std::string upright(const Orientation& orientation) {
  const data::ImageSize size = orientation.size({2, 3});
  const auto [first, down, across] = orientation.steps({2, 3}, 3, 1);
  std::string out;
  for (Index y = 0; y < size.height; ++y) {
    for (Index x = 0; x < size.width; ++x) out += char('0' + first + y * down + x * across);
    out += '\n';
  }
  return out;
}

}  // namespace

TEST_CASE("each orientation says where the first row and the first column are", "[data]") {
  // The file is 012 / 345. Its first row is at the top, top, bottom, bottom, left, right, right, left, its first column
  // at the left, right, right, left, top, top, bottom, bottom (TIFF 6.0, Orientation).
  const char* const expected[] = {"012\n345\n",   "210\n543\n",   "543\n210\n",   "345\n012\n",
                                  "03\n14\n25\n", "30\n41\n52\n", "52\n41\n30\n", "25\n14\n03\n"};
  for (int i = 1; i <= 8; ++i) {
    CAPTURE(i);
    CHECK(upright(Orientation(i)) == expected[i - 1]);
    CHECK(Orientation(i).is_upright() == (i == 1));
  }
  for (const Index other : {0, -1, 9, 1 << 20}) CHECK(upright(Orientation(other)) == expected[0]);
}

TEST_CASE("EXIF data in both byte orders are read", "[data]") {
  for (const bool little : {false, true}) {
    const std::string three = little ? std::string("\3\0\0\0", 4) : std::string("\0\3\0\0", 4),
                      long_six = little ? std::string("\6\0\0\0", 4) : std::string("\0\0\0\6", 4);
    const std::string rotated = upright(Orientation(3)), right = upright(Orientation(6)),
                      plain = upright(Orientation(1));
    CHECK(upright(Orientation::of_exif(tiff(little, {{0x112, 3, 1, three}}))) == rotated);
    CHECK(upright(Orientation::of_exif(
              tiff(little, {{0x10f, 2, 6, "abcd"}, {0x112, 3, 1, three}, {0x11a, 5, 1, "abcd"}}))) == rotated);
    CHECK(upright(Orientation::of_exif(tiff(little, {{0x112, 4, 1, long_six}}))) == right);
    for (const Entry& other : {Entry{0x112, 2, 1, three}, {0x112, 3, 2, three}, {0x113, 3, 1, three}})
      CHECK(upright(Orientation::of_exif(tiff(little, {other}))) == plain);
    const std::string whole = tiff(little, {{0x10f, 2, 6, "abcd"}, {0x112, 3, 1, three}});
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const std::string part = upright(Orientation::of_exif(whole.substr(0, n)));
      CHECK((part == plain || (part == rotated && n + 6 >= whole.size())));
    }
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = whole;
        damaged[i] = char(damaged[i] ^ 1 << bit);
        CHECK(upright(Orientation::of_exif(damaged)).size() == 8 + (upright(Orientation::of_exif(damaged))[2] == '\n'));
      }
  }
}

}  // namespace data_image_orientation
