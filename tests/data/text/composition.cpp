#include "tern/data/text/composition.hpp"
#include "support/recorded.hpp"

#include <tern/io/json_reader.hpp>

#include <zlib.h>

namespace data_text_composition {
using namespace tern;
using namespace tern_test;
using data::detail::compose;

namespace {

std::string written(std::uint32_t code) {
  std::string text;
  io::append_utf8(text, code);
  return text;
}

}  // namespace

TEST_CASE("normalisation form C of every character, alone and among marks") {
  const auto checksums = recorded_cases("composition")[0]["checksums"].get<std::vector<std::uint32_t>>();
  constexpr std::uint32_t block = 0x1000;
  CHECK(checksums.size() == 0x110000 / block);
  for (std::uint32_t i = 0; i < checksums.size(); ++i) {
    std::string all;
    for (std::uint32_t code = i * block; code < (i + 1) * block; ++code) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const std::string c = written(code);
      all += compose(c) + compose("A" + c + "\u0345" + c + "\u0334\u0301");
    }
    INFO("block " << i);
    CHECK(crc32(0, reinterpret_cast<const Bytef*>(all.data()), uInt(all.size())) == checksums[i]);
  }
}

TEST_CASE("normalisation form C of texts") {
  const Json recorded = recorded_cases("composition")[1];
  const std::vector<std::string> texts = recorded["texts"], normal = recorded["normal"];
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO("text " << i << ": " << texts[i]);
    CHECK(compose(texts[i]) == normal[i]);
    CHECK(compose(normal[i]) == normal[i]);
  }
}

TEST_CASE("bytes that are not UTF-8 stay as they are, and marks do not join over them") {
  CHECK(compose("") == "");
  CHECK(compose("\xff\xcc e\xcc\x81\xcc") == "\xff\xcc \xc3\xa9\xcc");
  CHECK(compose("e\xff\xcc\x81") == "e\xff\xcc\x81");
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += "\u0301\u0316";  // sorted, not inserted one by one
  CHECK(compose(marks).size() == marks.size() - 1);
}

}  // namespace data_text_composition
