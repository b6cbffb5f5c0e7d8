#include "tern/io/json_reader.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace io_json_reader {
using namespace tern;
using namespace tern_test;

namespace {

io::JsonReader reader(const std::string& text) {
  return io::JsonReader(text.data(), Index(text.size()), "test", "here");
}

std::string error_in(const std::string& text) {
  return error_of([&] {
    auto json = reader(text);
    json.skip();
    json.end();
  });
}

}  // namespace

TEST_CASE("JSON is read value by value", "[io]") {
  const std::string text = R"( {"a": [1, 20], "b": {"c": true}, "d": "\u00e9\n", "e": null, "f": []} )";
  auto json = reader(text);
  std::string name, seen;
  for (bool first = true; json.next_member(first, name);) {
    seen += name;
    if (name == "a") {
      Index sum = 0;
      for (bool next = true; json.next_element(next);) sum += json.integer();
      CHECK(sum == 21);
    } else if (name == "b") {
      CHECK(json.peek() == '{');
      for (bool next = true; json.next_member(next, name);) CHECK(json.truth());
    } else if (name == "d") {
      CHECK(json.string() == "é\n");
    } else if (name == "e") {
      CHECK(json.accept_null());
    } else {
      CHECK(!json.accept_null());
      json.skip();
    }
  }
  json.end();
  CHECK(seen == "abdef");
}

TEST_CASE("JSON's numbers are read as the nearest doubles", "[io]") {
  const auto number = [](const std::string& text) { return reader(text).number(); };
  CHECK(number(" 1e-05,") == 1e-5);
  CHECK(number("-0.1") == -0.1);
  CHECK(number("500000.0") == 500000);
  CHECK(number("7") == 7);
  CHECK(error_of([&] { number("1e999"); }) == "test: here: a number is too large or too small, at its byte 5");
  CHECK(error_of([&] { number("nan"); }) == "test: here: a value is missing, at its byte 0");
}

TEST_CASE("any JSON can be skipped, and nothing else", "[io]") {
  for (const char* good :
       {"0", "-1.5e+10", "\"\"", "true", "false", "null", "[]", "{}", "[1, [2, {\"a\": [3]}], \"]\"]"})
    CHECK(error_in(good) == "");
  CHECK(error_in("") == "test: here: a value is missing, at its byte 0");
  CHECK(error_in("[1,]") == "test: here: a value is missing, at its byte 3");
  CHECK(error_in("[1 2]") == "test: here: ']' is missing, at its byte 3");
  CHECK(error_in("1.") == "test: here: a value is missing, at its byte 2");
  CHECK(error_in("tru") == "test: here: a value is missing, at its byte 0");
  CHECK(error_in("[] x") == "test: here: something follows the closing brace, at its byte 3");
  CHECK(error_in(std::string(300, '[')) == "test: here: values lie too deep in each other, at its byte 200");
}

}  // namespace io_json_reader
