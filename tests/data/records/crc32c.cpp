#include "support/catch.hpp"

#include <string>

#include <tern/data/records/crc32c.hpp>

namespace data_records_crc32c {
using namespace tern;

namespace {

/// By the definition: the remainder of a division by the polynomial, bit by bit.
std::uint32_t by_bits(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
  }
  return ~crc;
}

std::string noise(std::size_t n) {
  std::string bytes;
  std::uint32_t x = 1;
  while (bytes.size() < n) bytes += char((x = x * 1664525u + 1013904223u) >> 24);
  return bytes;
}

}  // namespace

TEST_CASE("CRC32C has the values of RFC 3720, appendix B.4") {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) ascending += char(i), descending += char(31 - i);
  const std::string read_command(
      "\x01\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\0\0\x04\0\0\0\0\x14\0\0\0\x18\x28\0\0\0\0\0\0\0\x02\0\0\0\0\0\0"
      "\0",
      48);
  for (std::uint32_t (*const f)(std::string_view) : {&data::crc32c, &data::detail::crc32c_by_table}) {
    CHECK(f(std::string(32, '\0')) == 0x8a9136aa);
    CHECK(f(std::string(32, '\xff')) == 0x62a8ab43);
    CHECK(f(ascending) == 0x46dd794e);
    CHECK(f(descending) == 0x113fdb5c);
    CHECK(f(read_command) == 0xd9963a56);
    CHECK(f("") == 0);
  }
}

TEST_CASE("the instruction and the table agree with the definition at any length and place") {
  const std::string bytes = noise(100'003);
  for (std::size_t n = 0; n <= 4000; ++n) {
    const std::string_view part = std::string_view(bytes).substr(n % 9, n);
    const std::uint32_t expected = by_bits(part);
    if (data::crc32c(part) != expected || data::detail::crc32c_by_table(part) != expected) {
      CAPTURE(n);
      CHECK(data::crc32c(part) == expected);
      CHECK(data::detail::crc32c_by_table(part) == expected);
    }
  }
  CHECK(data::crc32c(bytes) == by_bits(bytes));
  CHECK(data::detail::crc32c_by_table(bytes) == by_bits(bytes));
}

TEST_CASE("masked checksums are those of TensorFlow") {
  // The checksum of the length of an empty record, from tf.io.TFRecordWriter.
  CHECK(data::detail::masked_crc32c(std::string_view("\0\0\0\0\0\0\0\0", 8)) == 0x07980329);
  CHECK(data::detail::masked_crc32c("") == 0xa282ead8);
}

}  // namespace data_records_crc32c
