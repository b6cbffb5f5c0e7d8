#include "tern/data/text/characters.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace data_text_characters {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;

TEST_CASE("characters have their codes and classes") {
  using enum data::CharacterClass;
  const auto is = [](const std::string& text, std::uint32_t code, int bytes, data::CharacterClass kind) {
    const data::Character c = data::first_character(text + "x");
    CHECK(c.code == code);
    CHECK(c.bytes == bytes);
    CHECK(c.kind == kind);
  };
  is("a", 'a', 1, letter), is("Z", 'Z', 1, letter), is("7", '7', 1, number), is(" ", ' ', 1, space),
      is("_", '_', 1, other);
  is("é", 0xe9, 2, letter), is("٣", 0x663, 2, number), is("½", 0xbd, 2, number), is("字", 0x5b57, 3, letter),
      is("　", 0x3000, 3, space);
  is("👍", 0x1f44d, 4, other), is("𝟘", 0x1d7d8, 4, number);
  for (const char* bad : {"\xff", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3"})
    is(bad, 0xfffd, 1, other);
  CHECK(data::first_character("\xe5\xad").bytes == 1);
}

TEST_CASE("texts are split into characters and words") {
  CHECK(data::split_characters("aé字\n") == Strings{"a", "é", "字", "\n"});
  CHECK(data::split_characters("").empty());
  CHECK_THAT(error_of([] { data::split_characters("ab\xff"); }),
             ContainsSubstring("split_characters: the text is not UTF-8 at its byte 2"));
  // Keras's text_to_word_sequence gives the same.
  CHECK(data::split_words("It's GREAT, isn't it?<br />\tYes: 10/10 (really)") ==
        Strings{"it's", "great", "isn't", "it", "br", "yes", "10", "10", "really"});
  CHECK(data::split_words("A-b C", {.lower = false, .filters = ""}) == Strings{"A-b", "C"});
  CHECK(data::split_words(" .. ").empty());
}

}  // namespace data_text_characters
