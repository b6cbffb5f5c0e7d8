#include "support/errors.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <tern/io/wire_format.hpp>

namespace io_wire_format {
using namespace tern;
using tern_test::error_of;

namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += char(value);
  return text;
}

/// Reads all fields, of whatever type; how many there are.
Index count_of(std::string_view message) {
  Index n = 0;
  for (io::WireReader fields("test", message); fields.next();) ++n;
  return n;
}

}  // namespace

// https://protobuf.dev/programming-guides/encoding
TEST_CASE("the messages of protobuf's documentation are read and written") {
  io::WireWriter number;
  number.varint(1, 150);
  CHECK(number.message() == bytes({0x08, 0x96, 0x01}));
  io::WireWriter text;
  text.bytes(2, "testing");
  CHECK(text.message() == bytes({0x12, 0x07}) + "testing");
  io::WireWriter nested;
  nested.bytes(3, number.message());
  CHECK(nested.message() == bytes({0x1a, 0x03, 0x08, 0x96, 0x01}));
  const Index values[] = {3, 270, 86942};
  io::WireWriter packed;
  packed.varints(6, values, 3);
  CHECK(packed.message() == bytes({0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05}));
  io::WireWriter negative;
  negative.varint(1, std::uint64_t(Index(-2)));
  CHECK(negative.message() == bytes({0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));

  io::WireReader fields("test", nested.message());
  REQUIRE(fields.next());
  CHECK(fields.number() == 3);
  io::WireReader inner("test", fields.bytes());
  REQUIRE(inner.next());
  CHECK(inner.number() == 1);
  CHECK(inner.varint() == 150);
  CHECK(!inner.next());
  CHECK(!fields.next());
}

TEST_CASE("numbers are read one by one and packed") {
  const auto integers = [](const std::string& message) {
    std::vector<Index> all;
    for (io::WireReader fields("test", message); fields.next();)
      fields.each_varint([&](std::uint64_t x) { all.push_back(Index(x)); });
    return all;
  };
  CHECK(integers(bytes({0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05})) == std::vector<Index>{3, 270, 86942});
  CHECK(integers(bytes({0x30, 0x03, 0x30, 0x8e, 0x02, 0x32, 0x01, 0x07})) == std::vector<Index>{3, 270, 7});
  CHECK(integers(bytes({0x32, 0x00})).empty());
  CHECK(error_of([&] { integers(bytes({0x32, 0x02, 0x03, 0x8e})); }) ==
        "test: the message ends within a number, at byte 2 of 2");

  const float values[] = {0.5f, -2, std::numeric_limits<float>::infinity()};
  io::WireWriter writer;
  writer.floats(4, values, 3);
  writer.float32(4, 1.5f);
  CHECK(writer.message() ==
        bytes({0x22, 0x0c, 0, 0, 0, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x80, 0x7f, 0x25, 0, 0, 0xc0, 0x3f}));
  std::vector<float> all;
  for (io::WireReader fields("test", writer.message()); fields.next();)
    fields.each_float32([&](float x) { all.push_back(x); });
  CHECK(all == std::vector<float>{values[0], values[1], values[2], 1.5f});
  CHECK(error_of([&] {
          const std::string three_bytes = bytes({0x22, 0x03, 0, 0, 0});
          for (io::WireReader fields("test", three_bytes); fields.next();) fields.each_float32([](float) {});
        }) == "test: a field is longer than what is left of the message, at byte 0 of 3");
}

TEST_CASE("fields of each type keep their values") {
  const std::string message =
      bytes({0x09, 1,    2,    3,    4,    5,    6,    7,    8,    0x15, 1,    2,    3,    0x84, 0x18, 0xff,
             0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0xfa, 0xff, 0xff, 0xff, 0x0f, 0x01, 'x'});
  io::WireReader fields("test", message);
  REQUIRE(fields.next());
  CHECK(fields.fixed64() == 0x0807060504030201u);
  CHECK(error_of([&] { fields.varint(); }) == "test: field 1 of a message is of another type than its name says");
  CHECK(error_of([&] { fields.bytes(); }) == "test: field 1 of a message is of another type than its name says");
  REQUIRE(fields.next());
  CHECK(fields.fixed32() == 0x84030201u);
  REQUIRE(fields.next());
  CHECK(fields.varint() == ~std::uint64_t(0));
  CHECK(error_of([&] { fields.float32(); }) == "test: field 3 of a message is of another type than its name says");
  REQUIRE(fields.next());
  CHECK(fields.number() == (Index(1) << 29) - 1);
  CHECK(fields.bytes() == "x");
  CHECK(!fields.next());
}

TEST_CASE("damaged messages are refused") {
  const auto refusal = [](std::initializer_list<int> message) { return error_of([&] { count_of(bytes(message)); }); };
  CHECK(refusal({0x00, 0x01}) == "test: a field has no valid number, at byte 1 of 2");
  CHECK(refusal({0x80, 0x80, 0x80, 0x80, 0x10, 0x01}) == "test: a field has no valid number, at byte 5 of 6");
  CHECK(refusal({0x0b}) == "test: a field is of a type that is not read, at byte 1 of 1");  // the start of a group
  CHECK(refusal({0x0f}) == "test: a field is of a type that is not read, at byte 1 of 1");
  CHECK(refusal({0x12, 0x02, 'x'}) == "test: a field is longer than what is left of the message, at byte 2 of 3");
  CHECK(refusal({0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'x'})
            .starts_with("test: a field is longer than"));
  CHECK(refusal({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}) ==
        "test: a number has more than ten bytes, at byte 11 of 12");
  CHECK(refusal({0x15, 1, 2, 3}) == "test: a field is longer than what is left of the message, at byte 1 of 4");
}

TEST_CASE("a cut message is refused unless it is cut between fields") {
  io::WireWriter writer;
  std::vector<std::size_t> ends = {0};
  const auto end = [&] { ends.push_back(writer.message().size()); };
  writer.varint(1, 1000000), end();
  writer.bytes(200, "some bytes"), end();
  writer.float32(3, 0.25f), end();
  for (std::size_t n = 0; n <= writer.message().size(); ++n) {
    CAPTURE(n);
    const std::string cut = writer.message().substr(0, n);
    const auto found = std::find(ends.begin(), ends.end(), n);
    if (found == ends.end()) CHECK(!error_of([&] { count_of(cut); }).empty());
    else CHECK(count_of(cut) == found - ends.begin());
  }
}

}  // namespace io_wire_format
