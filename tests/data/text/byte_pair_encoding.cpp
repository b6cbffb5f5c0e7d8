#include "tern/data/text/byte_pair_encoding.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/recorded.hpp"

namespace data_text_byte_pair_encoding {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using data::BytePairEncoding;

namespace {

struct Recorded {
  Json cases = recorded_cases("byte_pair_encoding");
  TemporaryFolder folder;

  std::vector<std::string> texts() const { return cases[0]["texts"]; }
  std::string put(const std::string& name, const Json& content) const { return folder.put(name, content.get<std::string>()); }
  std::string vocab() const { return put("vocab.json", cases[0]["vocab"]); }
  std::string merges() const { return put("merges.txt", cases[0]["merges"]); }
};

}  // namespace

TEST_CASE("byte-pair encoding is that of Hugging Face's tokenizers") {
  const Recorded recorded;
  const std::vector<std::string> texts = recorded.texts();
  const auto check = [&](const BytePairEncoding& encoding, const Json& expected) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO("text " << i << ": " << texts[i]);
      CHECK(encoding.encode(texts[i]) == expected[i].get<std::vector<Index>>());
    }
  };
  for (std::size_t k = 1; k < recorded.cases.size(); ++k) {
    INFO(recorded.cases[k]["name"].get<std::string>());
    check(BytePairEncoding::load(recorded.put("tokenizer.json", recorded.cases[k]["tokenizer"])), recorded.cases[k]["tokens"]);
  }
  const auto of_files = BytePairEncoding::load(recorded.vocab(), recorded.merges());
  check(of_files, recorded.cases[1]["tokens"]);
  CHECK(of_files.size() == 420);
  CHECK(of_files.find("<|endoftext|>") == 0);
  CHECK(of_files.find("no such token") == -1);
}

TEST_CASE("byte-pair encoding gives each text back, of any bytes") {
  const Recorded recorded;
  const auto encoding = BytePairEncoding::load(recorded.vocab(), recorded.merges());
  std::uint32_t state = 1;
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (int k = 0; k < i % 50; ++k) text += char((state = state * 1664525 + 1013904223) >> 24);
    CHECK(encoding.decode(encoding.encode(text)) == text);
  }
  const std::string longest(100000, 'a');  // merges are found without a search through all others
  CHECK(encoding.decode(encoding.encode(longest)) == longest);
}

TEST_CASE("damaged and unknown tokenisers are refused") {
  const Recorded recorded;
  const std::string vocab = recorded.vocab(), merges = recorded.merges();
  const auto pair = [&](const std::string& names, const std::string& list) {
    return error_of([&] { BytePairEncoding::load(names, list); });
  };
  CHECK_THAT(pair(recorded.folder.put("a", "{\"a\": 1"), merges), ContainsSubstring("/a' is not valid JSON: '}' is missing, at its byte 7"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 1}"), recorded.folder.put("c", "")), ContainsSubstring("/b': the vocabulary lacks byte 0"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 1, \"b\": 1}"), merges), ContainsSubstring("tokens 'a' and 'b' have one number, 1"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 99999999999}"), merges), ContainsSubstring("has number 99999999999, beyond 16777216"));
  CHECK_THAT(pair(vocab, recorded.folder.put("d", "#version: 0.2\na b c\n")),
             ContainsSubstring("/d', line 2: a merge is two tokens with a space between them, not 'a b c'"));
  CHECK_THAT(pair(vocab, recorded.folder.put("d", "q zzzz\n")), ContainsSubstring("merge 'q zzzz' needs a token that the vocabulary lacks, 'zzzz'"));
  CHECK_THAT(pair(recorded.folder / "none", merges), ContainsSubstring("none"));

  const Json whole = parse_json(recorded.cases[1]["tokenizer"].get<std::string>());
  const auto changed = [&](const std::string& at, const Json& value) {
    Json other = whole;
    other[Json::json_pointer(at)] = value;
    return error_of([&] { BytePairEncoding::load(recorded.folder.put("t.json", other.dump())); });
  };
  CHECK_THAT(changed("/model/type", "WordPiece"), ContainsSubstring("model type 'WordPiece' is not supported"));
  CHECK_THAT(changed("/model/dropout", 0.1), ContainsSubstring("dropout is not supported"));
  CHECK_THAT(changed("/model/byte_fallback", true), ContainsSubstring("byte_fallback is not supported"));
  CHECK_THAT(changed("/normalizer", Json{{"type", "NFC"}}), ContainsSubstring("normalizer is not supported"));
  CHECK_THAT(changed("/pre_tokenizer/type", "Whitespace"), ContainsSubstring("pre_tokenizer 'Whitespace' is not supported"));
  CHECK_THAT(changed("/pre_tokenizer", nullptr), ContainsSubstring("it is not byte-level: there is no pre_tokenizer 'ByteLevel'"));
  const Json other{{"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}, {"invert", false}};
  CHECK_THAT(changed("/pre_tokenizer", other), ContainsSubstring("the pattern '\\w+' is not supported"));
  CHECK_THAT(changed("/added_tokens/0/single_word", true), ContainsSubstring("single_word of added token"));
  const auto encoding = BytePairEncoding::load(vocab, merges);
  CHECK_THAT(error_of([&] { encoding.decode(std::vector<Index>{420}); }), ContainsSubstring("BytePairEncoding: there is no token 420 of 420"));
}

}  // namespace data_text_byte_pair_encoding
