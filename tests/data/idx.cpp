#include "support/catch.hpp"

#include <tern/data/idx.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"
#include "idx_bytes.hpp"

namespace data_idx {
using namespace tern;
using tern_test::error_of;
using tern_test::gzipped;
using tern_test::idx_bytes;
using tern_test::TemporaryFolder;

TEST_CASE("idx files are read, plain and compressed", "[data]") {
  const TemporaryFolder folder;
  const std::string bytes = idx_bytes({2, 3}, "\1\2\3\4\5\xff");
  for (const std::string& path : {folder.put("plain", bytes), folder.put("x.gz", gzipped(bytes))}) {
    const auto x = data::read_idx(path, {-1, 3});
    CHECK(x.shape() == detail::Shape{2, 3});
    CHECK(x(0, 0) == 1);
    CHECK(x(1, 2) == 255);
  }
  CHECK(data::read_idx(folder.put("none", idx_bytes({0}, "")), {-1}).numel() == 0);
}

TEST_CASE("idx files that are not what they should be are refused", "[data]") {
  const TemporaryFolder folder;
  for (const bool compressed : {false, true}) {
    const std::string path = folder / (compressed ? "x.gz" : "x");
    const auto refusal = [&](const std::string& bytes, const detail::Shape& expected) {
      folder.put(compressed ? "x.gz" : "x", compressed ? gzipped(bytes) : bytes);
      return error_of([&] { data::read_idx(path, expected); });
    };
    const std::string quoted = "'" + path + "': ";
    CHECK(refusal("", {-1}) == "gzip: " + quoted + "is truncated: its content ends after 0 bytes, 4 are missing");
    CHECK(refusal(idx_bytes({3}, "ab"), {-1}) ==
          "gzip: " + quoted + "is truncated: its content ends after 10 bytes, 1 are missing");
    CHECK(refusal(idx_bytes({3}, "abc").substr(0, 6), {-1}) ==
          "gzip: " + quoted + "is truncated: its content ends after 6 bytes, 2 are missing");
    CHECK(refusal(idx_bytes({3}, "abcd"), {-1}) == "gzip: " + quoted + "holds more than the 11 bytes expected");
    CHECK(refusal(idx_bytes({3}, "abc"), {-1, 28, 28}) ==
          "idx: " + quoted + "begins with the number 2049, not 2051: it should hold unsigned bytes, dimensions: 3");
    CHECK(refusal(idx_bytes({1, 2, 1}, "ab"), {-1}) ==
          "idx: " + quoted + "begins with the number 2051, not 2049: it should hold unsigned bytes, dimensions: 1");
    CHECK(refusal(idx_bytes({1}, "abcd", 0x0d), {-1}) ==
          "idx: " + quoted + "begins with the number 3329, not 2049: it should hold unsigned bytes, dimensions: 1");
    CHECK(refusal(idx_bytes({2, 3}, "abcdef"), {-1, 2}) ==
          "idx: " + quoted + "has the sizes [2, 3], not [-1, 2], where -1 is any up to 1000000");
    CHECK(refusal(idx_bytes({3, 2}, "abcdef"), {2, 2}) ==
          "idx: " + quoted + "has the sizes [3, 2], not [2, 2], where -1 is any up to 1000000");
    CHECK(refusal(idx_bytes({0xffffffff}, "abc"), {-1}) ==
          "idx: " + quoted + "has the sizes [4294967295], not [-1], where -1 is any up to 1000000");
  }
}

TEST_CASE("sizes that a file cannot have are refused before memory is asked for", "[data]") {
  const tern_test::TemporaryFolder folder;
  const std::string path = folder.put("x", idx_bytes({1'000'000, 1'000'000, 1'000'000, 1'000'000}, "abc"));
  CHECK(error_of([&] { data::read_idx(path, {-1, -1, -1, -1}); }) ==
        "idx: '" + path +
            "': of sizes [1000000, 1000000, 1000000, 1000000] is larger than allowed: more than 1000000000 bytes");
}

}  // namespace data_idx
