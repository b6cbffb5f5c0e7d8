#include "support/catch.hpp"

#include <limits>

#include <tern/io/json.hpp>

namespace io_json {

using tern::io::Json;

TEST_CASE("json is written with its separators", "[io]") {
  Json json;
  json.object();
  json.member("data", "mnist");
  json.member("threads", 2);
  json.member("ok", true);
  json.null("peer");
  json.array("epochs");
  for (const double loss : {0.5, 0.25}) {
    json.object();
    json.member("loss", loss);
    json.end();
  }
  json.end();
  json.array("none");
  json.end();
  json.object("empty");
  json.end();
  json.array("mixed");
  json.value(1);
  json.value("two");
  json.null();
  json.value(false);
  json.end();
  json.end();
  CHECK(json.text() ==
        R"({"data": "mnist", "threads": 2, "ok": true, "peer": null, "epochs": [{"loss": 0.5}, {"loss": 0.25}], )"
        R"("none": [], "empty": {}, "mixed": [1, "two", null, false]})");
}

TEST_CASE("json strings are escaped", "[io]") {
  CHECK(tern::io::json_quoted("a\"b\\c\nd\x01\xc3\xa9 {[ ") == "\"a\\\"b\\\\c\\u000ad\\u0001\xc3\xa9 {[ \"");
}

TEST_CASE("json numbers read back the same", "[io]") {
  CHECK(tern::io::json_number(0.1) == "0.1");
  CHECK(tern::io::json_number(3) == "3");
  CHECK(tern::io::json_number(-1e300) == "-1e+300");
  for (const double x : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789})
    CHECK(std::strtod(tern::io::json_number(x).c_str(), nullptr) == x);
  CHECK(tern::io::json_number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(tern::io::json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
  Json json;
  json.value(std::numeric_limits<std::int64_t>::min());
  CHECK(json.text() == "-9223372036854775808");
}

}  // namespace io_json
