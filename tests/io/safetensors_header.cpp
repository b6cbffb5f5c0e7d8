#include "support/catch.hpp"

#include <stdexcept>
#include <tuple>

#include <tern/io/safetensors_header.hpp>

#include "temporary_folder.hpp"

namespace io_safetensors_header {
using namespace tern;
using io::SafetensorsHeader;
using tern_test::error_of;

namespace {

std::string length_prefix(std::uint64_t n) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += char(n >> (8 * i) & 0xff);
  return out;
}

/// A file with this header and so many bytes of data.
std::string file(const std::string& json, int data_bytes) {
  return length_prefix(json.size()) + json + std::string(std::size_t(data_bytes), '\1');
}

Index parse(const std::string& bytes, SafetensorsHeader& header) {
  return io::parse_safetensors(bytes.data(), Index(bytes.size()), "f", header);
}

const io::SafetensorsEntry& find(const SafetensorsHeader& header, const char* name) {
  for (const auto& entry : header.tensors)
    if (entry.name == name) return entry;
  throw std::runtime_error(std::string("no tensor ") + name);
}

/// A header of tensors to be written.
SafetensorsHeader tensors(std::initializer_list<std::tuple<const char*, DType, detail::Shape>> list) {
  SafetensorsHeader header;
  for (const auto& [name, dtype, shape] : list)
    header.tensors.push_back({name, io::StoredType(int(dtype)), shape, nullptr, 0, 0});
  return header;
}

/// Why the bytes are refused; empty if they are not.
std::string refusal(const std::string& bytes) {
  SafetensorsHeader header;
  const std::string message = error_of([&] { parse(bytes, header); });
  return message.starts_with("safetensors: 'f': ") ? message.substr(18) : message;
}

std::string tensor(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

}  // namespace

TEST_CASE("a safetensors header is read", "[io]") {
  SafetensorsHeader header;
  const std::string json = R"( { "__metadata__" : {"format":"pt", "note": "\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t"},)"
                           R"("a.weight":{"shape":[2, 3],"dtype":"F32","data_offsets":[8,32]},)"
                           "\n\t"
                           R"("s":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                           R"("é":{"dtype":"BOOL","shape":[0,9223372036854775807],"data_offsets":[32,32]}}   )";
  CHECK(parse(file(json, 32), header) == Index(json.size()) + 8);
  REQUIRE(header.tensors.size() == 3);
  const auto& a = find(header, "a.weight");
  CHECK(a.type == io::StoredType::float32);
  CHECK(a.shape == detail::Shape{2, 3});
  CHECK(a.begin == 8);
  CHECK(a.end == 32);
  CHECK(find(header, "s").type == io::StoredType::int64);
  CHECK(find(header, "s").shape.n == 0);
  CHECK(find(header, "é").shape == detail::Shape{0, 9223372036854775807});
  CHECK(header.metadata[0] == std::pair<std::string, std::string>("format", "pt"));
  CHECK(header.metadata[1].second == "é😀\"\\/\b\f\n\r\t");

  SafetensorsHeader empty;
  CHECK(parse(file("{}", 0), empty) == 10);
  CHECK(empty.tensors.empty());
}

TEST_CASE("every element type has its name", "[io]") {
  using enum io::StoredType;
  const std::tuple<const char*, io::StoredType, int> names[] = {
      {"F32", float32, 4}, {"F64", float64, 8}, {"BF16", bfloat16, 2}, {"F16", float16, 2},  {"I64", int64, 8},
      {"I32", int32, 4},   {"U8", uint8, 1},    {"BOOL", bool_, 1},    {"I8", int8, 1},      {"I16", int16, 2},
      {"U16", uint16, 2},  {"U32", uint32, 4},  {"U64", uint64, 8},    {"F8_E5M2", other, 1}};
  for (const auto& [name, type, size] : names) {
    SafetensorsHeader header;
    parse(file(R"({"x":)" + tensor("3", "0," + std::to_string(3 * size), name) + "}", 3 * size), header);
    CHECK(find(header, "x").type == type);
    CHECK(find(header, "x").type_name == name);
  }
}

TEST_CASE("safetensors files that end too early are refused", "[io]") {
  CHECK(refusal("") == "is truncated: 0 bytes cannot hold the header's length");
  CHECK(refusal("1234567") == "is truncated: 7 bytes cannot hold the header's length");
  const std::string whole = file(R"({"x":)" + tensor("2", "0,8") + "}", 8);
  CHECK(refusal(whole) == "");
  for (std::size_t n = 8; n < whole.size(); ++n) CHECK(refusal(whole.substr(0, n)) != "");
  CHECK(refusal(whole.substr(0, 20)).starts_with("is truncated: a header of"));
  CHECK(refusal(whole.substr(0, whole.size() - 1)) ==
        "tensor 'x' with data_offsets [0, 8] reaches beyond the file, which holds 7 bytes of data");
}

TEST_CASE("huge header lengths are refused", "[io]") {
  CHECK(refusal(length_prefix(~std::uint64_t(0)) + "{}") ==
        "the header's length is larger than allowed: 18446744073709551615 > 100000000");
  CHECK(refusal(length_prefix(100'000'001) + "{}") ==
        "the header's length is larger than allowed: 100000001 > 100000000");
  CHECK(refusal(length_prefix(100'000'000) + "{}") ==
        "is truncated: a header of 100000000 bytes is announced, 2 follow");
}

TEST_CASE("headers that are not the JSON of the format are refused", "[io]") {
  const std::string ok = tensor("1", "0,4");
  const std::pair<std::string, const char*> cases[] = {
      {"", "'{' is missing"},
      {"[]", "'{' is missing"},
      {"{", "'\"' is missing"},
      {"{} x", "something follows the closing brace"},
      {"{\"x\"", "':' is missing"},
      {"{\"x", "a string has no end"},
      {"{\"x\\", "a string has no end"},
      {"{\"\\x\":" + ok + "}", "an unknown escape sequence"},
      {"{\"\\u12g4\":" + ok + "}", "\\u is not followed by four hexadecimal digits"},
      {"{\"\\ud800\":" + ok + "}", "half a surrogate pair"},
      {"{\"\\udc00\":" + ok + "}", "half a surrogate pair"},
      {"{\"\\ud800\\u0041\":" + ok + "}", "half a surrogate pair"},
      {"{\"a\nb\":" + ok + "}", "a control character in a string"},
      {"{\"\xff\":" + ok + "}", "it is not UTF-8"},
      {"{\"\xc0\x80\":" + ok + "}", "it is not UTF-8"},
      {"{\"\xe0\x80\x80\":" + ok + "}", "it is not UTF-8"},
      {"{\"\xed\xa0\x80\":" + ok + "}", "it is not UTF-8"},
      {"{\"\xf4\x90\x80\x80\":" + ok + "}", "it is not UTF-8"},
      {"{\"\xc3\":" + ok + "}", "it is not UTF-8"},
      {"{\"x\":" + ok + ",}", "'\"' is missing"},
      {"{\"x\":" + ok + " \"y\":" + ok + "}", "'}' is missing"},
      {"{\"x\":1}", "'{' is missing"},
      {"{\"x\":{}}", "a tensor lacks dtype, shape or data_offsets"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", "a tensor lacks dtype, shape or data_offsets"},
      {"{\"x\":{\"dtype\":3}}", "'\"' is missing"},
      {"{\"x\":{\"strides\":[1]}}", "a member other than dtype, shape and data_offsets"},
      {"{\"x\":" + tensor("-1", "0,4") + "}", "a number that is not negative is missing"},
      {"{\"x\":" + tensor("1.5", "0,4") + "}", "']' is missing"},
      {"{\"x\":" + tensor("1e1", "0,4") + "}", "']' is missing"},
      {"{\"x\":" + tensor("01", "0,4") + "}", "a number begins with 0"},
      {"{\"x\":" + tensor("9223372036854775808", "0,4") + "}", "a number is too large"},
      {"{\"x\":" + tensor("1", "-4,0") + "}", "a number that is not negative is missing"},
      {"{\"x\":" + tensor("1", "0") + "}", "data_offsets are two numbers"},
      {"{\"x\":" + tensor("1", "0,4,8") + "}", "data_offsets are two numbers"},
      {"{\"__metadata__\":{\"a\":1}}", "'\"' is missing"},
      {"{\"__metadata__\":\"a\"}", "'{' is missing"},
  };
  for (const auto& [json, rule] : cases) {
    INFO(json);
    CHECK(refusal(file(json, 4)).starts_with("the header is not valid: " + std::string(rule) + ", at its byte "));
  }
  CHECK(refusal(file(std::string(1'000'000, '{'), 0)).starts_with("the header is not valid: '\"' is missing"));
}

TEST_CASE("names that occur twice are refused", "[io]") {
  const std::string one = tensor("1", "0,4"), two = tensor("1", "4,8");
  CHECK(refusal(file("{\"x\":" + one + ",\"\\u0078\":" + two + "}", 8)) == "the header names 'x' twice");
  CHECK(refusal(file(R"({"__metadata__":{},"__metadata__":{}})", 0)) == "the header names '__metadata__' twice");
  CHECK(refusal(file(R"({"__metadata__":{"a":"1","a":"2"}})", 0)) == "the header names 'a' twice");
  CHECK(refusal(file(R"({"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)) ==
        "the header names 'dtype' twice");
}

TEST_CASE("tensors that cannot be are refused", "[io]") {
  const auto one = [](const std::string& shape, const std::string& offsets, int bytes, const char* dtype = "F32") {
    return refusal(file("{\"x\":" + tensor(shape, offsets, dtype) + "}", bytes));
  };
  CHECK(one("1", "0,4", 4) == "");
  CHECK(one("3", "0,2", 2, "F4") == "");  // 12 bits; of a type that cannot be read the size is not known
  CHECK(one("1", "4,0", 4, "F4") == "tensor 'x' with data_offsets [4, 0] ends before it begins");
  CHECK(one("1", "0,8", 4, "F4") ==
        "tensor 'x' with data_offsets [0, 8] reaches beyond the file, which holds 4 bytes of data");
  CHECK(one("1", "0,4", 4, "I16") == "tensor 'x' with data_offsets [0, 4] does not have the 2 bytes of [1] of I16");
  CHECK(one("1,1,1,1,1,1,1,1,1", "0,4", 4) == "tensor 'x' has more than 8 dimensions");
  CHECK(one("2", "0,4", 4) == "tensor 'x' with data_offsets [0, 4] does not have the 8 bytes of [2] of F32");
  CHECK(one("1", "0,4", 4, "F64") == "tensor 'x' with data_offsets [0, 4] does not have the 8 bytes of [1] of F64");
  CHECK(one("1", "4,0", 4) == "tensor 'x' with data_offsets [4, 0] ends before it begins");
  CHECK(one("1", "4,8", 4) ==
        "tensor 'x' with data_offsets [4, 8] reaches beyond the file, which holds 4 bytes of data");
  CHECK(one("1", "9223372036854775803,9223372036854775807", 4).ends_with("which holds 4 bytes of data"));
  CHECK(one("1", "4,8", 8) == "tensor 'x' with data_offsets [4, 8] leaves a gap after byte 0");
  CHECK(one("1", "0,4", 5) == "1 bytes at the end belong to no tensor");
  CHECK(one("4294967296,4294967296", "0,4", 4) ==
        "tensor 'x' with data_offsets [0, 4] has too many elements: [4294967296, 4294967296]");
  CHECK(one("4611686018427387904,4", "0,0", 0) ==
        "tensor 'x' with data_offsets [0, 0] has too many elements: [4611686018427387904, 4]");
}

TEST_CASE("tensors that overlap or leave gaps are refused", "[io]") {
  const auto two = [](const std::string& a, const std::string& b, int bytes) {
    return refusal(file("{\"a\":" + tensor("2", a) + ",\"b\":" + tensor("2", b) + "}", bytes));
  };
  CHECK(two("0,8", "8,16", 16) == "");
  CHECK(two("8,16", "0,8", 16) == "");
  CHECK(two("0,8", "4,12", 12) ==
        "tensor 'b' with data_offsets [4, 12] overlaps the tensor before it, which ends at 8");
  CHECK(two("0,8", "0,8", 8) == "tensor 'b' with data_offsets [0, 8] overlaps the tensor before it, which ends at 8");
  CHECK(two("0,8", "9,17", 17) == "tensor 'b' with data_offsets [9, 17] leaves a gap after byte 8");
}

TEST_CASE("random damage to a header is refused or harmless", "[io]") {
  const std::string whole = file(
      R"({"__metadata__":{"k":"v"},"a":)" + tensor("2,2", "0,16") + R"(,"b":)" + tensor("1", "16,24", "I64") + "}", 24);
  std::uint32_t state = 1;
  const auto random = [&](std::size_t n) { return (state = state * 1664525 + 1013904223) / 65536 % n; };
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (std::size_t k = 0; k <= random(3); ++k) damaged[random(damaged.size() - 24)] = char(random(256));
    SafetensorsHeader header;
    try {
      parse(damaged, header);
      for (const auto& entry : header.tensors) REQUIRE((entry.begin >= 0 && entry.end <= 24));
    } catch (const Error&) { ++refused; }
  }
  CHECK(refused > 15000);
}

TEST_CASE("a header is laid out as Python's writer does it", "[io]") {
  // What safetensors 0.8.0 wrote for these tensors with metadata {"format": "pt"}.
  const std::string expected =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
      R"("d":{"dtype":"F64","shape":[],"data_offsets":[16,24]},)"
      R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},)"
      R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[48,48]},)"
      R"("i":{"dtype":"I32","shape":[1],"data_offsets":[48,52]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[52,54]},"u":{"dtype":"U8","shape":[3],"data_offsets":[54,57]},)"
      R"("t":{"dtype":"BOOL","shape":[2],"data_offsets":[57,59]}}      )";
  SafetensorsHeader header = tensors({{"b", DType::float32, {2, 3}},
                                      {"a", DType::int64, {2}},
                                      {"h", DType::float16, {1}},
                                      {"u", DType::uint8, {3}},
                                      {"d", DType::float64, {}},
                                      {"t", DType::bool_, {2}},
                                      {"i", DType::int32, {1}},
                                      {"e", DType::float32, {0, 3}}});
  header.metadata = {{"format", "pt"}};
  const auto layout = io::layout_safetensors(header.tensors, header.metadata, "f");
  CHECK(layout.head == length_prefix(expected.size()) + expected);
  REQUIRE(layout.order.size() == 8);
  CHECK(layout.order.front()->name == "a");
  CHECK(layout.order.back()->name == "t");
}

TEST_CASE("headers without tensors or with several metadata", "[io]") {
  SafetensorsHeader header;
  parse(file(R"({"__metadata__": null})", 0), header);
  CHECK(header.metadata.empty());
  CHECK(io::layout_safetensors(header.tensors, header.metadata, "f").head == length_prefix(8) + "{}      ");
  header.metadata = {{"a", "1"}, {"b", "\""}};
  const std::string head = io::layout_safetensors(header.tensors, header.metadata, "f").head;
  CHECK(head == length_prefix(40) + R"({"__metadata__":{"a":"1","b":"\""}}     )");
  SafetensorsHeader back;
  parse(head, back);
  CHECK(back.metadata == header.metadata);
}

TEST_CASE("names that no reader would accept are not written", "[io]") {
  const auto refused = [](const std::string& first, const std::string& second) {
    const SafetensorsHeader header =
        tensors({{first.c_str(), DType::float32, {1}}, {second.c_str(), DType::int64, {1}}});
    return error_of([&] { io::layout_safetensors(header.tensors, header.metadata, "f"); });
  };
  CHECK(refused("a", "b") == "");
  CHECK(refused("a", "a") == "safetensors: 'f': the header names 'a' twice");
  CHECK(refused("a", "\xff").find("it is not UTF-8") != std::string::npos);
  CHECK(refused("a", "__metadata__") != "");
}

}  // namespace io_safetensors_header
