#include "tern/data/text/vocabulary.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/catch.hpp"

namespace data_text_vocabulary {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;

namespace {

data::TokenCounts counts() {
  data::TokenCounts counts;
  counts.add(Strings{"b", "a", "c", "a", "b", "d", "a"});
  return counts;
}

}  // namespace

TEST_CASE("a vocabulary has the specials, then the tokens by frequency") {
  CHECK(counts()["a"] == 3);
  CHECK(counts()["z"] == 0);
  CHECK(data::Vocabulary(counts()).tokens() == Strings{"a", "b", "c", "d"});
  CHECK(data::Vocabulary(counts(), {.max_tokens = 3, .specials = {"<pad>"}}).tokens() == Strings{"<pad>", "a", "b"});
  CHECK(data::Vocabulary(counts(), {.min_freq = 2, .specials = {"b"}}).tokens() == Strings{"b", "a"});
  data::Vocabulary words(counts());
  CHECK(words["b"] == 1);
  CHECK(words.lookup_token(2) == "c");
  CHECK_THAT(error_of([&] { words["z"]; }),
             ContainsSubstring("Vocabulary: token 'z' is not known, and there is no default index"));
  words.set_default_index(3);
  CHECK(words.lookup_indices({"a", "z", "c"}) == std::vector<Index>{0, 3, 2});
  CHECK(words.lookup_tokens({2, 0}) == Strings{"c", "a"});
  CHECK_THAT(error_of([&] { words.lookup_tokens({0, -1}); }),
             ContainsSubstring("Vocabulary: there is no token -1 of 4"));
  CHECK(words.get_itos() == words.tokens());
  CHECK((words.get_stoi().size() == 4 && words.get_stoi().at("c") == 2));
  auto longer = words;
  longer.append_token("e");
  CHECK((longer["e"] == 4 && longer.size() == 5));
  CHECK_THAT(error_of([&] { longer.append_token("b"); }),
             ContainsSubstring("Vocabulary: token 'b' is already token 1"));
  CHECK_THAT(error_of([&] { words.lookup_token(4); }), ContainsSubstring("Vocabulary: there is no token 4 of 4"));
  CHECK_THAT(error_of([&] { words.set_default_index(4); }),
             ContainsSubstring("Vocabulary: default index 4 is no token of 4"));
  CHECK_THAT(error_of([] { data::Vocabulary({"a", "a"}); }), ContainsSubstring("Vocabulary: token 'a' occurs twice"));
  CHECK_THAT(error_of([] { data::Vocabulary(counts(), {.max_tokens = 1, .specials = {"x", "y"}}); }),
             ContainsSubstring("Vocabulary: max_tokens 1 leaves no room for 2 specials"));
}

TEST_CASE("a vocabulary is saved as text") {
  const TemporaryFolder folder;
  data::Vocabulary words(Strings{"a\\b", "\n", "\r", "é", "", "two words"});
  words.set_default_index(4);
  words.save(folder / "v");
  CHECK(content_of(folder / "v") == "default_index 4\na\\\\b\n\\n\n\\r\né\n\ntwo words\n");
  const auto again = data::Vocabulary::load(folder / "v");
  CHECK(again.tokens() == words.tokens());
  CHECK(again.default_index() == 4);
  const auto error = [&](const std::string& content) {
    return error_of([&] { data::Vocabulary::load(folder.put("bad", content)); });
  };
  CHECK_THAT(error("a\n"), ContainsSubstring("/bad', line 1: 'default_index' is missing"));
  CHECK_THAT(error("default_index x\n"), ContainsSubstring("/bad', line 1: 'x' is no number"));
  CHECK_THAT(error("default_index 1\na\n"), ContainsSubstring("/bad': default_index 1 is no token of 1"));
  CHECK_THAT(error("default_index 0\na\nb\na\n"), ContainsSubstring("/bad', line 4: token 'a' is that of line 2"));
  CHECK_THAT(error("default_index 0\n\\t\n"),
             ContainsSubstring("/bad', line 2: a backslash is not followed by \\, n or r"));
}

}  // namespace data_text_vocabulary
