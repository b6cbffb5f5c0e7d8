#include "support/errors.hpp"

#include <tern/data/records/example.hpp>

namespace data_records_example {
using namespace tern;
using tern_test::error_of;

namespace {

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += char(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// TensorFlow 2.21's SerializeToString(deterministic=True) of a: [0, -1, 300], b: [b"", b"\0x"], f: [0.5, -2.0], and n
/// without a list.
const std::string message = from_hex(
    "0a410a160a016112111a0f0a0d00ffffffffffffffffff01ac020a0d0a016212080a060a000a0200780a110a0166120c120a0a080000003f00"
    "0000c00a050a016e1200");

}  // namespace

TEST_CASE("an Example of TensorFlow's is read, and written alike") {
  const data::Example example = data::Example::parse(message);
  CHECK(example.names() == std::vector<std::string_view>{"a", "b", "f", "n"});
  CHECK(example.integers("a") == std::vector<Index>{0, -1, 300});
  CHECK(example.bytes("b") == std::vector<std::string_view>{"", std::string_view("\0x", 2)});
  CHECK(example.floats("f") == std::vector<float>{0.5f, -2});
  CHECK(example.serialize() == message);
  data::Example made;  // in another order
  made.set("f", std::vector<float>{0.5f, -2})
      .set("b", {"", std::string_view("\0x", 2)})
      .set("a", std::vector<Index>{0, -1, 300});
  std::string without_n = message.substr(0, message.size() - 7);
  without_n[1] = char(without_n[1] - 7);
  CHECK(made.serialize() == without_n);
}

TEST_CASE("a feature that is set again is replaced") {
  data::Example example;
  example.set("a", 3).set("a", "text");
  CHECK(example.names().size() == 1);
  CHECK(example.bytes("a")[0] == "text");
}

TEST_CASE("numbers that are not packed, and lists in parts, are read") {
  // Example { features { feature { key: "a" value { int64_list { value: 1 value: 2 } int64_list { value: 3 } } } } }
  const std::string parts = from_hex(
      "0a120a100a0161120b1a0408010802"
      "1a030a0103");
  CHECK(data::Example::parse(parts).integers("a") == std::vector<Index>{1, 2, 3});
}

TEST_CASE("of features of one name the last one counts") {
  const std::string entry = from_hex("0a0a0a016112051a030a01"), first = entry + char(1), second = entry + char(2);
  CHECK(data::Example::parse(from_hex("0a18") + first + second).integers("a") == std::vector<Index>{2});
}

TEST_CASE("what an Example does not hold is refused by name") {
  const data::Example example = data::Example::parse(message);
  CHECK(error_of([&] { example.bytes("c"); }) == "Example: there is no feature 'c'");
  CHECK(error_of([&] { example.bytes("a"); }) == "Example: feature 'a' is of integers, not of bytes");
  CHECK(error_of([&] { example.integers("n"); }) == "Example: feature 'n' is of nothing, not of integers");
  CHECK(error_of([&] {
          data::Example::parse(
              from_hex("0a100a0e0a01611209"
                       "1a030a0101"
                       "12020a00"));
        }) == "Example: a feature is of two kinds");
}

TEST_CASE("a damaged Example gives an error, or numbers and bytes of its size") {
  Index refused = 0;
  const auto read = [&](const std::string& damaged) {
    refused += !error_of([&] {
                  const data::Example example = data::Example::parse(damaged);
                  std::size_t values = 0;
                  for (const std::string_view name : example.names()) {
                    error_of([&] { values += example.integers(name).size(); });
                    error_of([&] { values += example.floats(name).size(); });
                    error_of([&] {
                      for (const std::string_view bytes : example.bytes(name)) values += 1 + std::string(bytes).size();
                    });
                  }
                  CHECK(values <= damaged.size());
                }).empty();
  };
  for (std::size_t i = 0; i < message.size(); ++i)
    for (int mask = 1; mask < 256; ++mask) {
      std::string damaged = message;
      damaged[i] = char(damaged[i] ^ mask);
      read(damaged);
    }
  CHECK(refused > 1000);
  refused = 0;
  for (std::size_t n = 1; n < message.size(); ++n) read(message.substr(0, n));
  CHECK(refused == Index(message.size()) - 1);
}

}  // namespace data_records_example
