#include "support/catch.hpp"

#include <tern/io/gzip.hpp>

#include "gzipped.hpp"
#include "temporary_folder.hpp"

namespace io_gzip {
using namespace tern;
using tern_test::error_of;
using tern_test::gzipped;
using tern_test::TemporaryFolder;

namespace {

std::string pattern(int n) {
  std::string out;
  for (unsigned i = 0, x = 1; i < unsigned(n); ++i, x = x * 1664525 + 1013904223) out += char(x >> 24);
  return out;
}

}  // namespace

TEST_CASE("plain and compressed files read alike", "[io]") {
  const TemporaryFolder folder;
  for (const int n : {0, 1, 2, 65535, 65536, 65537, 300000}) {
    const std::string content = pattern(n);
    CHECK(io::read_gzip(folder.put("plain", content), n) == content);
    CHECK(io::read_gzip(folder.put("x.gz", gzipped(content)), n) == content);
    CHECK(io::read_gzip(folder.put("y", gzipped(content) + gzipped("more")), n + 4) == content + "more");
  }
}

TEST_CASE("content is read in pieces and must end where it is expected to", "[io]") {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.put("plain", "abcdef"), folder.put("x.gz", gzipped("abcdef"))}) {
    char out[6];
    io::GzipReader reader(path);
    reader.read(out, 2);
    reader.read(out + 2, 4);
    CHECK(std::string(out, 6) == "abcdef");
    CHECK_NOTHROW(reader.expect_end());

    io::GzipReader too_long(path);
    too_long.read(out, 5);
    CHECK(error_of([&] { too_long.expect_end(); }) == "gzip: '" + path + "': holds more than the 5 bytes expected");

    io::GzipReader too_short(path);
    too_short.read(out, 5);
    CHECK(error_of([&] { too_short.read(out, 3); }) ==
          "gzip: '" + path + "': is truncated: its content ends after 6 bytes, 2 are missing");
  }
}

TEST_CASE("damaged compressed files are refused", "[io]") {
  const TemporaryFolder folder;
  const std::string content = pattern(200000), whole = gzipped(content);
  const auto error = [&](const std::string& bytes) {
    const std::string path = folder.put("x.gz", bytes);
    std::string message = error_of([&] { io::read_gzip(path, 200000); });
    const std::string start = "gzip: '" + path + "': ";
    CHECK(message.substr(0, start.size()) == start);
    return message.substr(std::min(message.size(), start.size()));
  };
  for (const std::size_t n : {std::size_t(3), std::size_t(12), whole.size() / 2, whole.size() - 8, whole.size() - 1})
    CHECK(error(whole.substr(0, n)) == "is truncated: its compressed data stop in the middle");
  CHECK(error("") == "is not gzip: it does not begin with 1f 8b");
  CHECK(error("plain") == "is not gzip: it does not begin with 1f 8b");
  CHECK(error(whole + "junk") == "other bytes follow the compressed data");

  std::string damaged = whole;
  damaged[whole.size() - 6] = char(damaged[whole.size() - 6] ^ 1);
  CHECK(error(damaged) == "is corrupt: incorrect data check");
  damaged = whole;
  damaged[2] = 9;
  CHECK(error(damaged) == "is corrupt: unknown compression method");
}

TEST_CASE("content does not grow beyond the limit", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("bomb.gz", gzipped(std::string(10'000'000, '\0')));
  CHECK(error_of([&] { io::read_gzip(path, 1'000'000); }) ==
        "gzip: '" + path + "': its content is larger than allowed: more than 1000000 bytes");
  CHECK(error_of([&] { io::GzipReader(path, 5).expect_end(); }).find("holds more than the 0 bytes") !=
        std::string::npos);
}

TEST_CASE("a file may become 8 times its size or a gigabyte, whichever is more", "[io]") {
  CHECK(io::most_content(0, -1) == 1'000'000'000);
  CHECK(io::most_content(125'000'000, -1) == 1'000'000'000);
  CHECK(io::most_content(125'000'001, -1) == 1'000'000'008);
  CHECK(io::most_content(INT64_MAX / 8, -1) == INT64_MAX / 8 * 8);
  CHECK(io::most_content(125'000'001, 7) == 7);
  CHECK(io::most_content(9, 0) == 0);
}

TEST_CASE("a text has no byte-order mark, and UTF-16 is refused", "[io]") {
  const tern_test::TemporaryFolder folder;
  const auto text = [&](const std::string& content) { return io::read_text("op", folder.put("x", content)); };
  CHECK(text("") == "");
  CHECK(text("\xef\xbb") == "\xef\xbb");
  CHECK(text("\xef\xbb\xbf"
             "a\xef\xbb\xbf") == "a\xef\xbb\xbf");
  CHECK(text(tern_test::gzipped("\xef\xbb\xbf"
                                "a")) == "a");
  for (const char* const mark : {"\xff\xfe", "\xfe\xff"})
    CHECK(tern_test::error_of([&] { text(std::string(mark) + "a"); }) ==
          "op: '" + (folder / "x") + "': is in UTF-16; save it as UTF-8");
}

}  // namespace io_gzip
