#include "support/catch.hpp"
#include "support/errors.hpp"

#include <tern/data/records/datum.hpp>

namespace data_records_datum {
using namespace tern;
using tern_test::error_of;

TEST_CASE("a Datum is protobuf's message of a labelled picture") {
  // The bytes that protobuf makes of {data: "ab", label: 3, encoded: true} and {channels: 1, height: 1, width: 2, data:
  // "ab", label: -2}.
  const std::string encoded(
      "\x22\x02"
      "ab\x28\x03\x38\x01",
      8);
  const std::string raw(
      "\x08\x01\x10\x01\x18\x02\x22\x02"
      "ab\x28\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
      21);
  CHECK(data::serialize_datum({.encoded = "ab", .label = 3}) == encoded);
  CHECK(data::serialize_datum({.label = -2, .pixels = "ab", .channels = 1, .height = 1, .width = 2}) == raw);
  CHECK((data::parse_datum(encoded).encoded == "ab" && data::parse_datum(encoded).label == 3));
  CHECK((data::parse_datum(raw).pixels == "ab" && data::parse_datum(raw).label == -2 &&
         data::parse_datum(raw).width == 2));
}

TEST_CASE("a Datum that is damaged, or of floats, is refused") {
  const auto refusal = [](const std::string& message) { return error_of([&] { data::parse_datum(message); }); };
  CHECK(refusal(std::string("\x08\x01\x10\x01\x18\x03\x22\x02"
                            "ab",
                            10)) == "Datum: has 2 bytes, not 1 x 1 x 3");
  CHECK(refusal(std::string("\x08\x00\x10\x01\x18\x03", 6)) == "Datum: a picture of 0 x 1 x 3 cannot be");
  CHECK(refusal(std::string("\x35\x00\x00\x80\x3f", 5)) == "Datum: holds floats; bytes and picture files are read");
  CHECK(refusal(std::string("\x22\x05"
                            "ab",
                            4)) == "Datum: a field is longer than what is left of the message, at byte 2 of 4");
  CHECK(refusal(std::string("\x2a\x02"
                            "ab",
                            4)) == "Datum: field 5 of a message is of another type than its name says");
}

}  // namespace data_records_datum
