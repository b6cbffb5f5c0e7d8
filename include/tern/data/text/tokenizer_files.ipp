// The functions of tokenizer_files.hpp that are not templates.
#pragma once
#include <algorithm>

#include "../../io/file.hpp"
#include "../../io/json_reader.hpp"
#include "line_stream.hpp"
#include "tokenizer_files.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The regular expressions of pieces.hpp, as files write them.
struct KnownPattern {
  const char* regex;
  PieceRule rule;
};
inline constexpr KnownPattern known_patterns[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PieceRule::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PieceRule::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PieceRule::qwen}};

/// A file of JSON that is being read. What it has beyond the parts is refused by name.
class TokenizerReader {
 public:
  explicit TokenizerReader(const std::string& path)
      : path_(path), content_(io::read_file(path, Index(1) << 31)),
        json_(content_.data(), Index(content_.size()), "BytePairEncoding",
              tern::detail::text({"'", path_, "' is not valid JSON"})) {}

  template <class... X>
  [[noreturn]] void refuse(const X&... why) const {
    Error::fail("BytePairEncoding", {"'", path_, "': ", why...});
  }
  io::JsonReader& json() { return json_; }

  /// Calls f(name) for each member of an object, which reads its value.
  template <class F>
  void members(const F& f) {
    std::string name;
    for (bool first = true; json_.next_member(first, name);) f(name);
  }
  template <class F>
  void elements(const F& f) {
    for (bool first = true; json_.next_element(first);) f();
  }
  /// A string that must have this value, or null.
  void require(const char* member, const char* value) {
    if (json_.accept_null()) return;
    if (const std::string got = json_.string(); got != value) refuse(member, " '", got, "' is not supported");
  }
  void require_null(const char* member) {
    if (!json_.accept_null()) refuse(member, " is not supported");
  }
  void require_false(const std::string& member) {
    if (json_.truth()) refuse(member, " is not supported");
  }

  void vocab(TokenizerParts& parts) {
    members([&](const std::string& name) { parts.vocab.emplace_back(name, json_.integer()); });
  }

  /// A token's text, or an object that says more of it.
  AddedToken added_token(bool late) {
    AddedToken token{.late = late};
    if (json_.peek() == '"') {
      token.text = json_.string();
      return token;
    }
    bool single_word = false;
    members([&](const std::string& name) {
      if (name == "id") token.token = json_.integer();
      else if (name == "content") token.text = json_.string();
      else if (name == "lstrip") token.takes_space_before = json_.truth();
      else if (name == "rstrip") token.takes_space_after = json_.truth();
      else if (name == "normalized") token.late = json_.truth();
      else if (name == "single_word") single_word = json_.truth();
      else json_.skip();
    });
    if (single_word) refuse("single_word of added token '", token.text, "' is not supported");
    return token;
  }

  void tokenizer(TokenizerParts& parts) {
    members([&](const std::string& name) {
      if (name == "normalizer") normalizer(parts);
      else if (name == "pre_tokenizer") pre_tokenizer(parts);
      else if (name == "post_processor") post_processor(parts);
      else if (name == "decoder") decoder(parts);
      else if (name == "added_tokens") elements([&] { parts.added.push_back(added_token(true)); });
      else if (name == "model") model(parts);
      else json_.skip();  // truncation and padding are a call's, as in transformers
    });
    json_.end();
    if (parts.of_characters == is_byte_level_)
      refuse(is_byte_level_ ? "byte_fallback is not supported after pre_tokenizer 'ByteLevel'"
                            : "it is not byte-level: there is neither pre_tokenizer 'ByteLevel' nor byte_fallback");
    const auto check = [&](bool has, const char* component) {
      if (has && !parts.of_characters) refuse(component, " is not supported without byte_fallback");
      if (!has && parts.of_characters) refuse(component, " is missing, which byte_fallback needs");
    };
    check(writes_space_, "a normalizer 'Replace' or pre_tokenizer 'Metaspace' of spaces");
    check(reads_space_, "a decoder 'Replace' of U+2581");
    check(reads_bytes_, "a decoder 'ByteFallback'");
    if (!parts.of_characters && parts.puts_space == PutSpace::always)
      refuse("a normalizer 'Prepend' is not supported without byte_fallback");
    if (parts.of_characters && parts.rule != PieceRule::whole)
      refuse("a pattern of pre_tokenizer 'Split' is not supported with byte_fallback");
  }

 private:
  /// What a pattern finds: "Regex: \\s" or "String: \u2581".
  std::string pattern() {
    std::string found;
    members([&](const std::string& kind) { found = kind + ": " + json_.string(); });
    return found;
  }

  void normalizer(TokenizerParts& parts) {
    if (json_.accept_null()) return;
    std::string type, found, text;
    members([&](const std::string& name) {
      if (name == "type") type = json_.string();
      else if (name == "normalizers") elements([&] { normalizer(parts); });
      else if (name == "pattern") found = pattern();
      else if (name == "prepend" || name == "content") text = json_.string();
      else json_.skip();
    });
    if (type == "NFC") parts.composes = true;
    else if (type == "Prepend" && text == written_space && parts.puts_space == PutSpace::never)
      parts.puts_space = PutSpace::always;
    else if (type == "Replace" && found == "String:  " && text == written_space) writes_space_ = true;
    else if (type != "Sequence")
      refuse("normalizer '", type, "' ", found, text, found.empty() && text.empty() ? "" : " ", "is not supported");
  }

  /// The rule of the pieces, and whether a space comes in front.
  void pre_tokenizer(TokenizerParts& parts) {
    if (json_.accept_null()) return;
    std::string type, found, behavior, scheme, replacement;
    bool use_regex = true, adds_space = false, splits = true;
    members([&](const std::string& name) {
      if (name == "type") type = json_.string();
      else if (name == "add_prefix_space") adds_space = json_.truth();
      else if (name == "use_regex") use_regex = json_.truth();
      else if (name == "pattern") found = pattern();
      else if (name == "behavior") behavior = json_.string();
      else if (name == "invert") require_false("an inverted pattern");
      else if (name == "pretokenizers") elements([&] { pre_tokenizer(parts); });
      else if (name == "replacement") replacement = json_.string();
      else if (name == "prepend_scheme") scheme = json_.string();
      else if (name == "split") splits = json_.truth();
      else json_.skip();
    });
    if (type == "Sequence") return;
    if (type == "Metaspace") return metaspace(parts, replacement, scheme, splits);
    if (type != "ByteLevel" && type != "Split") refuse("pre_tokenizer '", type, "' is not supported");
    if (is_byte_level_) refuse("pre_tokenizer '", type, "' after 'ByteLevel' is not supported");
    if (type == "Split" && writes_space_ && found == "String:  ") return;  // no space is left to be found
    if (type == "Split" && behavior != "Isolated") refuse("pre_tokenizer behavior '", behavior, "' is not supported");
    is_byte_level_ = type == "ByteLevel";
    const bool is_cut = parts.rule != PieceRule::whole;
    if (is_cut && (adds_space || !is_byte_level_ || use_regex))
      refuse("a second pre_tokenizer that changes pieces is not supported");
    if (is_byte_level_ && adds_space) parts.puts_space = PutSpace::unless_there;
    if (is_byte_level_ && use_regex) parts.rule = PieceRule::gpt2;
    if (!is_byte_level_) parts.rule = rule_of(found);
  }
  void metaspace(TokenizerParts& parts, const std::string& replacement, const std::string& scheme, bool splits) {
    if (replacement != written_space || splits || parts.puts_space != PutSpace::never || writes_space_)
      refuse("pre_tokenizer 'Metaspace' that cuts, follows another, or writes a space as '", replacement,
             "' is not supported");
    writes_space_ = true;
    if (scheme == "first") parts.puts_space = PutSpace::unless_there_first;
    else if (scheme == "always") parts.puts_space = PutSpace::unless_there;
    else if (scheme != "never") refuse("prepend_scheme '", scheme, "' is not supported");
  }
  PieceRule rule_of(const std::string& found) const {
    for (const KnownPattern& known : known_patterns)
      if (found == tern::detail::text({"Regex: ", known.regex})) return known.rule;
    refuse("the pattern ", found, " is not supported");
  }

  /// The tokens that begin and end a text.
  void post_processor(TokenizerParts& parts) {
    if (json_.accept_null()) return;
    std::string type;
    std::vector<std::string> front, back;
    bool is_front = true;
    const auto piece = [&](const std::string& kind) {
      std::string token;
      members([&](const std::string& name) {
        if (name == "id") token = json_.string();
        else json_.skip();
      });
      if (kind == "Sequence") is_front = false;
      else (is_front ? front : back).push_back(token);
    };
    std::vector<std::pair<std::string, std::vector<Index>>> tokens;
    const auto special = [&](const std::string& token) {
      tokens.emplace_back(token, std::vector<Index>{});
      members([&](const std::string& name) {
        if (name == "ids") elements([&] { tokens.back().second.push_back(json_.integer()); });
        else json_.skip();
      });
    };
    const auto named = [&](std::vector<Index>& side) {  // ["</s>", 2]
      elements([&] {
        if (json_.peek() == '"') json_.skip();
        else side.push_back(json_.integer());
      });
    };
    members([&](const std::string& name) {
      if (name == "type") type = json_.string();
      else if (name == "single") elements([&] { members(piece); });
      else if (name == "special_tokens") members(special);
      else if (name == "cls") named(parts.front);
      else if (name == "sep") named(parts.back);
      else if (name == "processors") elements([&] { post_processor(parts); });
      else json_.skip();
    });
    const auto append = [&](const std::vector<std::string>& names, std::vector<Index>& side) {
      for (const std::string& each : names)
        for (const auto& [token, ids] : tokens)
          if (token == each) side.insert(side.end(), ids.begin(), ids.end());
    };
    append(front, parts.front), append(back, parts.back);
    for (const char* const known :
         {"ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing", "Sequence"})
      if (type == known) return;
    refuse("post_processor '", type, "' is not supported");
  }

  void decoder(TokenizerParts& parts) {
    if (json_.accept_null()) return;
    std::string type, found, content;
    Index start = 0, stop = 0;
    members([&](const std::string& name) {
      if (name == "type") type = json_.string();
      else if (name == "decoders") elements([&] { decoder(parts); });
      else if (name == "pattern") found = pattern();
      else if (name == "content") content = json_.string();
      else if (name == "start") start = json_.integer();
      else if (name == "stop") stop = json_.integer();
      else json_.skip();
    });
    if (type == "ByteFallback") reads_bytes_ = true;
    else if (type == "Replace" && found == tern::detail::text({"String: ", written_space}) && content == " ")
      reads_space_ = true;
    else if (type == "Strip" && content == " " && start == 1 && stop == 0) parts.strips_space = true;
    else if (type != "ByteLevel" && type != "Fuse" && type != "Sequence")
      refuse("decoder '", type, "' is not supported");
  }

  void model(TokenizerParts& parts) {
    members([&](const std::string& name) {
      if (name == "type") require("model type", "BPE");
      else if (name == "dropout") require_null("dropout");
      else if (name == "continuing_subword_prefix" || name == "end_of_word_suffix") require(name.c_str(), "");
      else if (name == "byte_fallback") parts.of_characters = json_.truth();
      else if (name == "ignore_merges") parts.ignores_merges = json_.truth();
      else if (name == "vocab") vocab(parts);
      else if (name == "merges") elements([&] { merge(parts); });
      else json_.skip();
    });
  }
  void merge(TokenizerParts& parts) {
    std::string sides[2];
    if (json_.peek() == '[') {
      std::size_t count = 0;
      elements([&] {
        if (count == 2) json_.refuse("a merge has more than two tokens");
        sides[count++] = json_.string();
      });
    } else {
      const std::string both = json_.string();
      const std::size_t space = both.find(' ');
      if (space == std::string::npos) json_.refuse("a merge is two tokens with a space between them");
      sides[0] = both.substr(0, space), sides[1] = both.substr(space + 1);
    }
    parts.merges.emplace_back(sides[0], sides[1]);
  }

  static constexpr const char* written_space = "\u2581";

  std::string path_, content_;
  io::JsonReader json_;
  bool is_byte_level_ = false;
  bool writes_space_ = false, reads_space_ = false, reads_bytes_ = false;  // as byte_fallback needs
};

TERN_COLD TokenizerParts read_tokenizer(const std::string& path) {
  TokenizerParts parts{.path = path, .merges_path = path};
  TokenizerReader(path).tokenizer(parts);
  return parts;
}

/// Adds to the parts what tokenizer_config.json says. The special tokens that it names have no numbers there.
TERN_COLD void read_tokenizer_config(const std::string& path, TokenizerParts& parts, std::string& tokenizer_class,
                                     std::vector<AddedToken>& specials) {
  TokenizerReader file(path);
  io::JsonReader& json = file.json();
  file.members([&](const std::string& name) {
    if (json.accept_null()) return;
    if (name == "tokenizer_class") tokenizer_class = json.string();
    else if (name == "add_prefix_space") parts.puts_space = json.truth() ? PutSpace::unless_there : PutSpace::never;
    else if (name == "added_tokens_decoder")
      file.members([&](const std::string& number) {
        if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
          file.refuse("the number of an added token is not '", number, "'");
        parts.added.push_back(file.added_token(true));
        parts.added.back().token = std::stoll(number);
      });
    else if (name == "additional_special_tokens") file.elements([&] { specials.push_back(file.added_token(false)); });
    else if (name == "bos_token" || name == "eos_token" || name == "unk_token" || name == "pad_token")
      specials.push_back(file.added_token(false));
    else json.skip();
  });
  json.end();
}

/// The tokenizer_class of a config.json; empty if it does not say which.
TERN_COLD std::string class_of_model(const std::string& path) {
  std::string model_type;
  TokenizerReader file(path);
  file.members([&](const std::string& name) {
    if (name == "model_type") model_type = file.json().string();
    else file.json().skip();
  });
  if (model_type == "gpt2") return "GPT2Tokenizer";
  return model_type == "qwen2" || model_type == "qwen3" ? "Qwen2Tokenizer" : "";
}

/// Adds the special tokens under the numbers that the vocabulary has for them. <|endoftext|>, the first, is the last
/// token if it lacks that.
TERN_COLD void add_specials(TokenizerParts& parts, std::vector<AddedToken>& specials, const TokenizerReader& file) {
  for (AddedToken& special : specials) {
    const bool is_added = std::any_of(parts.added.begin(), parts.added.end(),
                                      [&](const AddedToken& t) { return t.text == special.text; });
    if (is_added) continue;
    Index end = 0;
    for (const auto& [name, token] : parts.vocab) {
      if (name == special.text) special.token = token;
      end = std::max(end, token + 1);
    }
    for (const AddedToken& added : parts.added) end = std::max(end, added.token + 1);
    if (special.token < 0 && &special != specials.data())
      file.refuse("special token '", special.text, "' has no number");
    if (special.token < 0) special.token = end;
    parts.added.push_back(special);
  }
}

TERN_COLD TokenizerParts read_vocabulary(const std::string& vocab, const std::string& merges,
                                         std::string tokenizer_class) {
  TokenizerParts parts{.path = vocab, .merges_path = merges};
  TokenizerReader names(vocab);
  names.vocab(parts);
  names.json().end();
  LineStream::Reader lines(merges);
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      lines.refuse("BytePairEncoding", {"a merge is two tokens with a space between them, not '", line, "'"});
    parts.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }

  const std::string folder = vocab.substr(0, vocab.rfind('/') + 1);
  std::string found;
  std::vector<AddedToken> specials{{.text = "<|endoftext|>"}};  // of both classes
  if (const std::string path = folder + "tokenizer_config.json"; io::exists(path))
    read_tokenizer_config(path, parts, found, specials);
  if (const std::string path = folder + "added_tokens.json"; parts.added.empty() && io::exists(path)) {
    TokenizerReader file(path);
    file.members(
        [&](const std::string& name) { parts.added.push_back({.text = name, .token = file.json().integer()}); });
  }
  if (const std::string path = folder + "config.json"; tokenizer_class.empty() && found.empty() && io::exists(path))
    found = class_of_model(path);
  if (tokenizer_class.empty()) tokenizer_class = found;
  if (tokenizer_class.empty())
    names.refuse(
        "how a text is cut is not known: tokenizer_config.json beside it names no tokenizer_class; it may be given, as "
        "\"GPT2Tokenizer\" or \"Qwen2Tokenizer\"");
  const bool is_qwen = tokenizer_class == "Qwen2Tokenizer" || tokenizer_class == "Qwen2TokenizerFast";
  if (!is_qwen && tokenizer_class != "GPT2Tokenizer" && tokenizer_class != "GPT2TokenizerFast")
    names.refuse("tokenizer_class '", tokenizer_class, "' is not supported, only GPT2Tokenizer and Qwen2Tokenizer");
  if (is_qwen && parts.puts_space != PutSpace::never)
    names.refuse("add_prefix_space of Qwen2Tokenizer is not supported");
  parts.composes = is_qwen;
  parts.rule = is_qwen ? PieceRule::qwen : PieceRule::gpt2;
  add_specials(parts, specials, names);
  return parts;
}

}}}  // namespace tern::data::detail
