// The functions of byte_pair_encoding.hpp that are not templates.
#pragma once
#include <algorithm>
#include <queue>
#include <utility>

#include "../../io/file.hpp"
#include "../../io/json_reader.hpp"
#include "byte_pair_encoding.hpp"
#include "line_stream.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

/// The character by which a byte is written in a vocabulary: itself where it can be printed, else one from U+0100 on.
inline std::uint32_t written_byte(unsigned byte) {
  const auto printed = [](unsigned b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (printed(byte)) return byte;
  std::uint32_t code = 256;
  for (unsigned b = 0; b < byte; ++b) code += !printed(b);
  return code;
}

}  // namespace detail

/// A file that is being read, and the bytes that its characters are written for.
class BytePairEncoding::File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {
    for (unsigned b = 0; b < 256; ++b) byte_of_[detail::written_byte(b)] = char(b);
  }

  template <class... X>
  [[noreturn]] void refuse(const X&... why) const {
    fail("BytePairEncoding", {"'", path_, "': ", why...});
  }
  /// The bytes of a token's name. False if it is not written by bytes.
  bool bytes_of(const std::string& name, std::string& bytes) const {
    bytes.clear();
    for (std::size_t at = 0; at < name.size();) {
      const Character c = first_character(std::string_view(name).substr(at));
      const auto found = byte_of_.find(c.code);
      if (found == byte_of_.end()) return false;
      bytes += found->second;
      at += std::size_t(c.bytes);
    }
    return true;
  }
  io::JsonReader json(const std::string& text) const {
    return io::JsonReader(text.data(), Index(text.size()), "BytePairEncoding", tern::detail::text({"'", path_, "' is not valid JSON"}));
  }
  std::string content() const { return io::read_file(path_, Index(1) << 31); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unordered_map<std::uint32_t, char> byte_of_;
};

TERN_INLINE void BytePairEncoding::set_token(const std::string& name, Index token, const File& file) {
  constexpr Index most = 1 << 24;
  if (token >= most) file.refuse("token '", name, "' has number ", token, ", beyond ", most);
  std::string bytes;
  if (!file.bytes_of(name, bytes)) bytes = name;  // an added token, in plain text
  if (token >= size()) bytes_.resize(std::size_t(token) + 1);
  if (!bytes_[std::size_t(token)].empty() && bytes_[std::size_t(token)] != bytes)
    file.refuse("tokens '", bytes_[std::size_t(token)], "' and '", bytes, "' have one number, ", token);
  bytes_[std::size_t(token)] = bytes;
  tokens_[bytes] = token;
}

TERN_INLINE void BytePairEncoding::add_merge(const std::string& left, const std::string& right, const File& file) {
  const auto token_of = [&](const std::string& name) {
    std::string bytes;
    const auto found = file.bytes_of(name, bytes) ? tokens_.find(bytes) : tokens_.end();
    if (found == tokens_.end()) file.refuse("merge '", left, " ", right, "' needs a token that the vocabulary lacks, '", name, "'");
    return found->second;
  };
  const Index a = token_of(left), b = token_of(right), both = token_of(left + right);
  merges_[pair(a, b)] = {Index(merges_.size()), both};  // the last one counts where a pair occurs twice, as in Hugging Face's reader
}

TERN_INLINE void BytePairEncoding::add_special(const Added& special, const File& file) {
  if (special.text.empty()) file.refuse("an added token is empty");
  if (special.token >= size()) bytes_.resize(std::size_t(special.token) + 1);
  bytes_[std::size_t(special.token)] = special.text;
  tokens_[special.text] = special.token;
  added_.push_back(special);
}

TERN_INLINE void BytePairEncoding::finish(const File& file) {
  for (unsigned b = 0; b < 256; ++b) {
    const auto found = tokens_.find(std::string(1, char(b)));
    if (found == tokens_.end()) file.refuse("the vocabulary lacks byte ", Index(b));
    of_byte_[b] = found->second;
  }
}

[[gnu::cold]] TERN_INLINE BytePairEncoding BytePairEncoding::load(const std::string& vocab, const std::string& merges) {
  BytePairEncoding encoding;
  const File names(vocab), pairs(merges);
  const std::string content = names.content();
  io::JsonReader json = names.json(content);
  std::string name;
  for (bool first = true; json.next_member(first, name);) encoding.set_token(name, json.integer(), names);
  json.end();
  LineStream::Reader lines(merges);
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      lines.refuse("BytePairEncoding", {"a merge is two tokens with a space between them, not '", line, "'"});
    encoding.add_merge(line.substr(0, space), line.substr(space + 1), pairs);
  }
  encoding.finish(names);
  const std::string end = "<|endoftext|>";
  if (const Index token = encoding.find(end); token >= 0) encoding.add_special({end, token, false, false, false}, names);
  return encoding;
}

namespace detail {

/// What a tokenizer.json may say. Other values are refused by name.
class TokenizerReader {
 public:
  TokenizerReader(io::JsonReader& json, const std::string& path) : json_(json), path_(path) {}

  template <class... X>
  [[noreturn]] void refuse(const X&... why) const {
    fail("BytePairEncoding", {"'", path_, "': ", why...});
  }
  /// A string member that must have this value, or null.
  void require(const char* member, const char* value) {
    if (json_.accept_null()) return;
    if (const std::string got = json_.string(); got != value) refuse(member, " '", got, "' is not supported");
  }
  void require_null(const char* member) {
    if (!json_.accept_null()) refuse(member, " is not supported");
  }

  /// The rule of the pieces, and whether a space comes in front.
  void pre_tokenizer(PieceRule& rule, bool& adds_space) {
    if (json_.accept_null()) return;
    std::string type, name;
    bool use_regex = true;
    for (bool first = true; json_.next_member(first, name);) {
      if (name == "type") type = json_.string();
      else if (name == "add_prefix_space") adds_space = json_.truth();
      else if (name == "use_regex") use_regex = json_.truth();
      else if (name == "pattern") rule = pattern();
      else if (name == "behavior") require("pre_tokenizer behavior", "Isolated");
      else if (name == "invert" && json_.truth()) refuse("an inverted pattern is not supported");
      else if (name == "pretokenizers")
        for (bool next = true; json_.next_element(next);) pre_tokenizer(rule, adds_space);
      else if (name != "invert") json_.skip();
    }
    if (type == "ByteLevel") byte_level_ = true;
    else if (type != "Split" && type != "Sequence") refuse("pre_tokenizer '", type, "' is not supported");
    if (type == "ByteLevel" && use_regex) rule = PieceRule::gpt2;
  }
  bool is_byte_level() const { return byte_level_; }

 private:
  PieceRule pattern() {
    std::string kind, regex, name;
    for (bool first = true; json_.next_member(first, name);) kind = name, regex = json_.string();
    static const std::pair<const char*, PieceRule> known[] = {
        {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PieceRule::gpt2},
        {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
         PieceRule::llama3},
        {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
         PieceRule::qwen}};
    for (const auto& [text, rule] : known)
      if (kind == "Regex" && regex == text) return rule;
    refuse("the pattern '", regex, "' is not supported");
  }

  io::JsonReader& json_;
  const std::string& path_;
  bool byte_level_ = false;
};

}  // namespace detail

[[gnu::cold]] TERN_INLINE BytePairEncoding BytePairEncoding::load(const std::string& tokenizer) {
  BytePairEncoding encoding;
  const File file(tokenizer);
  const std::string content = file.content();
  io::JsonReader json = file.json(content);
  detail::TokenizerReader read(json, tokenizer);
  encoding.rule_ = detail::PieceRule::whole;
  std::vector<Added> added;
  std::vector<std::pair<std::string, std::string>> merges;
  std::string name, inner;
  for (bool first = true; json.next_member(first, name);) {
    if (name == "normalizer") {
      read.require_null("normalizer");
    } else if (name == "pre_tokenizer") {
      read.pre_tokenizer(encoding.rule_, encoding.adds_space_);
    } else if (name == "added_tokens") {
      for (bool next = true; json.next_element(next);) {
        Added token{"", 0, false, false, true};
        for (bool member = true; json.next_member(member, inner);) {
          if (inner == "id") token.token = json.integer();
          else if (inner == "content") token.text = json.string();
          else if (inner == "lstrip") token.takes_space_before = json.truth();
          else if (inner == "rstrip") token.takes_space_after = json.truth();
          else if (inner == "normalized") token.late = json.truth();
          else if (inner == "single_word" && json.truth()) file.refuse("single_word of added token '", token.text, "' is not supported");
          else if (inner != "single_word") json.skip();
        }
        added.push_back(token);
      }
    } else if (name == "model") {
      for (bool member = true; json.next_member(member, inner);) {
        if (inner == "type") read.require("model type", "BPE");
        else if (inner == "dropout") read.require_null("dropout");
        else if (inner == "continuing_subword_prefix" || inner == "end_of_word_suffix") read.require(inner.c_str(), "");
        else if (inner == "byte_fallback" && json.truth()) file.refuse("byte_fallback is not supported");
        else if (inner == "ignore_merges") encoding.ignores_merges_ = json.truth();
        else if (inner == "vocab")
          for (bool next = true; json.next_member(next, name);) encoding.set_token(name, json.integer(), file);
        else if (inner == "merges")
          for (bool next = true; json.next_element(next);) {
            std::string parts[2];
            if (json.peek() == '[') {
              std::size_t count = 0;
              for (bool part = true; json.next_element(part); ++count) {
                if (count == 2) json.refuse("a merge has more than two tokens");
                parts[count] = json.string();
              }
            } else {
              const std::string both = json.string();
              const std::size_t space = both.find(' ');
              if (space == std::string::npos) json.refuse("a merge is two tokens with a space between them");
              parts[0] = both.substr(0, space), parts[1] = both.substr(space + 1);
            }
            merges.emplace_back(parts[0], parts[1]);
          }
        else if (inner != "byte_fallback") json.skip();
      }
    } else {
      json.skip();
    }
  }
  json.end();
  if (!read.is_byte_level()) file.refuse("it is not byte-level: there is no pre_tokenizer 'ByteLevel'");
  for (const auto& [left, right] : merges) encoding.add_merge(left, right, file);
  encoding.finish(file);
  for (const Added& token : added) encoding.add_special(token, file);
  return encoding;
}

TERN_INLINE Index BytePairEncoding::find(const std::string& bytes) const {
  const auto found = tokens_.find(bytes);
  return found == tokens_.end() ? -1 : found->second;
}

TERN_INLINE const BytePairEncoding::Added* BytePairEncoding::first_added(std::string_view text, bool late, std::size_t& at) const {
  bool begins[256] = {};
  for (const Added& each : added_)
    if (each.late == late) begins[static_cast<unsigned char>(each.text[0])] = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!begins[static_cast<unsigned char>(text[i])]) continue;
    const Added* best = nullptr;
    for (const Added& each : added_)
      if (each.late == late && text.substr(i).starts_with(each.text) && (!best || each.text.size() > best->text.size())) best = &each;
    if (!best) continue;
    at = i;
    return best;
  }
  return nullptr;
}

TERN_INLINE std::vector<Index> BytePairEncoding::encode(std::string_view text) const {
  std::vector<Index> tokens;
  encode_around_added(text, false, tokens);
  return tokens;
}

TERN_INLINE void BytePairEncoding::encode_around_added(std::string_view text, bool late, std::vector<Index>& tokens) const {
  const auto is_space = [](std::string_view t) { return !t.empty() && first_character(t).kind == CharacterClass::space; };
  const auto character = [](std::string_view t) { return std::size_t(first_character(t).bytes); };
  while (!text.empty()) {
    std::size_t at = text.size();
    const Added* const special = first_added(text, late, at);
    std::string_view before = text.substr(0, at);
    if (special && special->takes_space_before) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < before.size();) {
        const bool space = is_space(before.substr(i));
        i += character(before.substr(i));
        if (!space) end = i;
      }
      before = before.substr(0, end);
    }
    if (late) encode_text(before, tokens);
    else encode_around_added(before, true, tokens);
    if (!special) return;
    tokens.push_back(special->token);
    text.remove_prefix(at + special->text.size());
    while (special->takes_space_after && is_space(text)) text.remove_prefix(character(text));
  }
}

TERN_INLINE void BytePairEncoding::encode_text(std::string_view text, std::vector<Index>& tokens) const {
  std::string spaced;
  if (adds_space_ && !text.empty() && text[0] != ' ') text = spaced = " " + std::string(text);
  while (!text.empty()) {
    const std::size_t length = detail::first_piece(rule_, text);
    encode_piece(text.substr(0, length), tokens);
    text.remove_prefix(length);
  }
}

TERN_INLINE void BytePairEncoding::encode_piece(std::string_view piece, std::vector<Index>& tokens) const {
  if (ignores_merges_)
    if (const Index whole = find(std::string(piece)); whole >= 0) return tokens.push_back(whole);
  struct Symbol {
    Index token;
    int before, after;
  };
  struct Candidate {
    Index rank;
    int at;
    Index token;
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::vector<Symbol> symbols;
  for (const char c : piece) {
    const int i = int(symbols.size());
    symbols.push_back({of_byte_[static_cast<unsigned char>(c)], i - 1, i + 1});
  }
  symbols.back().after = -1;
  std::priority_queue<Candidate> queue;
  const auto offer = [&](int at) {
    if (at < 0 || symbols[std::size_t(at)].after < 0) return;
    const Symbol& left = symbols[std::size_t(at)];
    const auto found = merges_.find(pair(left.token, symbols[std::size_t(left.after)].token));
    if (found != merges_.end()) queue.push({found->second.rank, at, found->second.token});
  };
  for (int i = 0; i + 1 < int(symbols.size()); ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[std::size_t(best.at)];
    if (left.token < 0 || left.after < 0) continue;  // a neighbour has been merged meanwhile
    Symbol& right = symbols[std::size_t(left.after)];
    const auto found = merges_.find(pair(left.token, right.token));
    if (found == merges_.end() || found->second.token != best.token) continue;
    left.token = best.token, right.token = -1;
    left.after = right.after;
    if (left.after >= 0) symbols[std::size_t(left.after)].before = best.at;
    offer(left.before), offer(best.at);
  }
  for (int i = 0; i >= 0; i = symbols[std::size_t(i)].after) tokens.push_back(symbols[std::size_t(i)].token);
}

TERN_INLINE std::string BytePairEncoding::decode(std::span<const Index> tokens) const {
  std::string text;
  for (const Index token : tokens) {
    if (token < 0 || token >= size()) fail("BytePairEncoding", {"there is no token ", token, " of ", size()});
    text += bytes_[std::size_t(token)];
  }
  return text;
}

}  // namespace tern::data
