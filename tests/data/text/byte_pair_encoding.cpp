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
  std::string put(const std::string& name, const Json& content) const {
    return folder.put(name, content.get<std::string>());
  }
  std::string vocab() const { return put("vocab.json", cases[0]["vocab"]); }
  std::string merges() const { return put("merges.txt", cases[0]["merges"]); }
  const Json& named(const std::string& name) const {
    for (const Json& row : cases)
      if (row.value("name", "") == name) return row;
    throw Error("no case is named " + name);
  }
  BytePairEncoding gpt2() const { return BytePairEncoding::load(vocab(), merges(), "GPT2Tokenizer"); }
};

}  // namespace

TEST_CASE("byte-pair encoding is that of Hugging Face's tokenizers") {
  const Recorded recorded;
  const std::vector<std::string> texts = recorded.texts();
  const auto check = [&](const BytePairEncoding& encoding, const Json& expected) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO("text " << i << ": " << texts[i]);
      const std::vector<Index> tokens = encoding.encode(texts[i]);
      CHECK(tokens == expected["tokens"][i].get<std::vector<Index>>());
      CHECK(encoding.decode(tokens) == expected["decoded"][i].get<std::string>());
    }
    return encoding.encode(texts[2], true);
  };
  for (std::size_t k = 1; k < recorded.cases.size(); ++k) {
    const Json& row = recorded.cases[k];
    INFO(row["name"].get<std::string>());
    CHECK(check(BytePairEncoding::load(recorded.put("tokenizer.json", row["tokenizer"])), row) ==
          row["whole"].get<std::vector<Index>>());
  }
  const auto gpt2 = recorded.gpt2();
  check(gpt2, recorded.named("gpt2"));
  CHECK(gpt2.size() == 420);
  CHECK(gpt2.find("<|endoftext|>") == 0);
  CHECK(gpt2.find("no such token") == -1);
  const std::string vocab = recorded.vocab(), merges = recorded.merges();
  CHECK(gpt2.encode("12345").size() == 2);
  CHECK(BytePairEncoding::load(vocab, merges, "Qwen2Tokenizer").encode("12345").size() == 5);
  check(BytePairEncoding::load(vocab, merges, "Qwen2TokenizerFast"), recorded.named("qwen"));
}

TEST_CASE("what vocab.json and merges.txt do not say stands in the files beside them") {
  const Recorded recorded;
  const std::string vocab = recorded.vocab(), merges = recorded.merges();
  const auto& folder = recorded.folder;
  const auto refusal = [&] { return error_of([&] { BytePairEncoding::load(vocab, merges); }); };
  CHECK_THAT(refusal(),
             ContainsSubstring("/vocab.json': how a text is cut is not known: tokenizer_config.json beside it names no "
                               "tokenizer_class; it may be given, as \"GPT2Tokenizer\" or \"Qwen2Tokenizer\""));
  const Index digits = 5, pieces = 2;
  const auto count = [&] { return Index(BytePairEncoding::load(folder / "").encode("12345").size()); };
  folder.put("config.json", R"({"model_type": "qwen2"})");
  CHECK(count() == digits);
  folder.put("tokenizer_config.json", R"({"model_max_length": 1024})");
  CHECK(count() == digits);
  folder.put("config.json", R"({"model_type": "gpt2"})");
  CHECK(count() == pieces);
  folder.put("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer", "unk_token": null})");
  CHECK(count() == digits);
  folder.put("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  CHECK_THAT(
      refusal(),
      ContainsSubstring("tokenizer_class 'LlamaTokenizer' is not supported, only GPT2Tokenizer and Qwen2Tokenizer"));
  CHECK(BytePairEncoding::load(vocab, merges, "GPT2Tokenizer").encode("12345").size() == 2);
  folder.put("tokenizer.json", recorded.named("qwen")["tokenizer"].get<std::string>());
  CHECK(count() == digits);

  // The added tokens have numbers of their own.
  const auto config = [&](const Json& content) { folder.put("tokenizer_config.json", content.dump()); };
  const Json end{{"content", "<|im_end|>"}, {"lstrip", false},      {"normalized", false},
                 {"rstrip", true},          {"single_word", false}, {"special", true}};
  config(
      {{"tokenizer_class", "Qwen2Tokenizer"}, {"added_tokens_decoder", {{"420", end}}}, {"eos_token", "<|im_end|>"}});
  const std::vector<Index> x = BytePairEncoding::load(vocab, merges).encode("x");
  CHECK(BytePairEncoding::load(vocab, merges).encode("<|im_end|> x<|endoftext|>") == std::vector<Index>{420, x[0], 0});
  config({{"tokenizer_class", "Qwen2Tokenizer"}, {"eos_token", {{"content", "<|im_end|>"}}}});
  CHECK_THAT(refusal(), ContainsSubstring("special token '<|im_end|>' has no number"));
  folder.put("added_tokens.json", R"({"<|im_end|>": 425})");
  CHECK(BytePairEncoding::load(vocab, merges).encode("<|im_end|>") == std::vector<Index>{425});
  config({{"tokenizer_class", "GPT2Tokenizer"}, {"add_prefix_space", true}});
  CHECK(BytePairEncoding::load(vocab, merges).decode(BytePairEncoding::load(vocab, merges).encode("a")) == " a");
  config({{"tokenizer_class", "Qwen2Tokenizer"}, {"add_prefix_space", true}});
  CHECK_THAT(refusal(), ContainsSubstring("add_prefix_space of Qwen2Tokenizer is not supported"));
  config({{"added_tokens_decoder", {{"x", end}}}});
  CHECK_THAT(refusal(), ContainsSubstring("tokenizer_config.json': the number of an added token is not 'x'"));
}

TEST_CASE("a vocabulary without <|endoftext|> gets it as its last token") {
  const Recorded recorded;
  Json names = parse_json(recorded.cases[0]["vocab"].get<std::string>());
  names.erase("<|endoftext|>");
  const auto qwen =
      BytePairEncoding::load(recorded.folder.put("v.json", names.dump()), recorded.merges(), "Qwen2Tokenizer");
  CHECK(qwen.encode("<|endoftext|>") == std::vector<Index>{420});
}

TEST_CASE("byte-pair encoding gives each text back, of any bytes") {
  const Recorded recorded;
  const auto encoding = recorded.gpt2();
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
    return error_of([&] { BytePairEncoding::load(names, list, "GPT2Tokenizer"); });
  };
  CHECK_THAT(pair(recorded.folder.put("a", "{\"a\": 1"), merges),
             ContainsSubstring("/a' is not valid JSON: '}' is missing, at its byte 7"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 1}"), recorded.folder.put("c", "")),
             ContainsSubstring("/b': the vocabulary lacks byte 0"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 1, \"b\": 1}"), merges),
             ContainsSubstring("tokens 'a' and 'b' have one number, 1"));
  CHECK_THAT(pair(recorded.folder.put("b", "{\"a\": 99999999999}"), merges),
             ContainsSubstring("has number 99999999999, beyond 16777216"));
  CHECK_THAT(pair(vocab, recorded.folder.put("d", "#version: 0.2\na b c\n")),
             ContainsSubstring("/d', line 2: a merge is two tokens with a space between them, not 'a b c'"));
  CHECK_THAT(pair(vocab, recorded.folder.put("d", "q zzzz\n")),
             ContainsSubstring("merge 'q zzzz' needs a token that the vocabulary lacks, 'zzzz'"));
  CHECK_THAT(pair(recorded.folder / "none", merges), ContainsSubstring("none"));

  const Json whole = parse_json(recorded.cases[1]["tokenizer"].get<std::string>());
  const auto changed = [&](const std::string& at, const Json& value) {
    Json other = whole;
    other[Json::json_pointer(at)] = value;
    return error_of([&] { BytePairEncoding::load(recorded.folder.put("t.json", other.dump())); });
  };
  CHECK_THAT(changed("/model/type", "WordPiece"), ContainsSubstring("model type 'WordPiece' is not supported"));
  CHECK_THAT(changed("/model/dropout", 0.1), ContainsSubstring("dropout is not supported"));
  CHECK_THAT(changed("/model/byte_fallback", true),
             ContainsSubstring("byte_fallback is not supported after pre_tokenizer 'ByteLevel'"));
  CHECK_THAT(changed("/normalizer", Json{{"type", "NFKC"}}), ContainsSubstring("normalizer 'NFKC' is not supported"));
  CHECK_THAT(
      changed("/normalizer", Json{{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}}),
      ContainsSubstring("normalizer 'Lowercase' is not supported"));
  CHECK_THAT(changed("/decoder/type", "Metaspace"), ContainsSubstring("decoder 'Metaspace' is not supported"));
  CHECK_THAT(changed("/post_processor/type", "Unknown"),
             ContainsSubstring("post_processor 'Unknown' is not supported"));
  CHECK_THAT(changed("/post_processor", Json{{"type", "BertProcessing"}, {"sep", {"</s>", 2}}, {"cls", {"<s>", 420}}}),
             ContainsSubstring("post_processor adds token 420 of 420"));
  CHECK_THAT(changed("/pre_tokenizer/type", "Whitespace"),
             ContainsSubstring("pre_tokenizer 'Whitespace' is not supported"));
  CHECK_THAT(changed("/pre_tokenizer", nullptr),
             ContainsSubstring("it is not byte-level: there is neither pre_tokenizer 'ByteLevel' nor byte_fallback"));
  const Json other{{"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}, {"invert", false}};
  CHECK_THAT(changed("/pre_tokenizer", other), ContainsSubstring("the pattern Regex: \\w+ is not supported"));
  CHECK_THAT(
      changed("/pre_tokenizer",
              Json{{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "Isolated"}, {"invert", false}}),
      ContainsSubstring("the pattern String:   is not supported"));
  // A second cut, and a space in front of each piece, change the tokens.
  const Json qwen = parse_json(recorded.named("qwen")["tokenizer"].get<std::string>())["pre_tokenizer"];
  for (const char* const at : {"/pretokenizers/1/use_regex", "/pretokenizers/1/add_prefix_space"}) {
    Json twice = qwen;
    twice[Json::json_pointer(at)] = true;
    CHECK_THAT(changed("/pre_tokenizer", twice),
               ContainsSubstring("a second pre_tokenizer that changes pieces is not supported"));
  }
  Json late = qwen;
  std::swap(late["pretokenizers"][0], late["pretokenizers"][1]);
  CHECK_THAT(changed("/pre_tokenizer", late),
             ContainsSubstring("pre_tokenizer 'Split' after 'ByteLevel' is not supported"));
  // A tokeniser of characters needs all its parts.
  const Json mistral = parse_json(recorded.named("mistral")["tokenizer"].get<std::string>());
  const auto without = [&](const std::string& at, const Json& value) {
    Json less = mistral;
    less[Json::json_pointer(at)] = value;
    return error_of([&] { BytePairEncoding::load(recorded.folder.put("t.json", less.dump())); });
  };
  CHECK_THAT(without("/pre_tokenizer", nullptr),
             ContainsSubstring("'Metaspace' of spaces is missing, which byte_fallback needs"));
  CHECK_THAT(without("/decoder", nullptr),
             ContainsSubstring("a decoder 'Replace' of U+2581 is missing, which byte_fallback needs"));
  CHECK_THAT(without("/decoder/decoders/1/type", "Fuse"), ContainsSubstring("a decoder 'ByteFallback' is missing"));
  CHECK_THAT(without("/decoder/decoders/3/start", 2), ContainsSubstring("decoder 'Strip' is not supported"));
  CHECK_THAT(without("/pre_tokenizer/split", true), ContainsSubstring("pre_tokenizer 'Metaspace' that cuts"));
  CHECK_THAT(without("/pre_tokenizer/prepend_scheme", "last"),
             ContainsSubstring("prepend_scheme 'last' is not supported"));
  CHECK_THAT(without("/model/byte_fallback", false), ContainsSubstring("it is not byte-level"));
  CHECK_THAT(without("/normalizer", Json{{"type", "Prepend"}, {"prepend", "x"}}),
             ContainsSubstring("normalizer 'Prepend' x is not supported"));
  CHECK_THAT(without("/model/vocab", Json{{"<0x00>", 0}}),
             ContainsSubstring("needs a token that the vocabulary lacks"));
  CHECK_THAT(changed("/normalizer", Json{{"type", "Prepend"}, {"prepend", "\u2581"}}),
             ContainsSubstring("a normalizer 'Prepend' is not supported without byte_fallback"));
  Json cut{{"type", "Sequence"}, {"pretokenizers", {qwen["pretokenizers"][0], mistral["pre_tokenizer"]}}};
  CHECK_THAT(without("/pre_tokenizer", cut),
             ContainsSubstring("a pattern of pre_tokenizer 'Split' is not supported with byte_fallback"));
  Json few = mistral;
  few["model"]["vocab"].erase("<0x0B>");
  CHECK_THAT(error_of([&] { BytePairEncoding::load(recorded.folder.put("t.json", few.dump())); }),
             ContainsSubstring("the vocabulary lacks byte 11"));
  CHECK_THAT(changed("/normalizer", Json{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}),
             ContainsSubstring("'Metaspace' of spaces is not supported without byte_fallback"));
  CHECK_THAT(changed("/added_tokens/0/single_word", true), ContainsSubstring("single_word of added token"));
  const auto encoding = recorded.gpt2();
  CHECK_THAT(error_of([&] { encoding.decode(std::vector<Index>{420}); }),
             ContainsSubstring("BytePairEncoding: there is no token 420 of 420"));
}

}  // namespace data_text_byte_pair_encoding
