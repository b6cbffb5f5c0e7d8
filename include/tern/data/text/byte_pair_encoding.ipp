// The functions of byte_pair_encoding.hpp that are not templates.
#pragma once
#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "../../io/file.hpp"
#include "byte_pair_encoding.hpp"
#include "composition.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// The character by which a byte is written in a vocabulary: itself where it can be printed, else one from U+0100 on.
inline std::uint32_t written_byte(unsigned byte) {
  const auto printed = [](unsigned b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (printed(byte)) return byte;
  std::uint32_t code = 256;
  for (unsigned b = 0; b < byte; ++b) code += !printed(b);
  return code;
}

/// Replaces each U+2581, as which vocabularies of characters write a space.
inline void read_spaces(std::string& text) {
  constexpr std::string_view space = "\u2581";
  for (std::size_t at = 0; (at = text.find(space, at)) != std::string::npos; ++at) text.replace(at, space.size(), " ");
}

/// The byte that <0x0A> stands for; -1 if a name is no such.
inline int byte_of(const std::string& name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return -1;
  const std::size_t high = digits.find(name[3]), low = digits.find(name[4]);
  return high == digits.npos || low == digits.npos ? -1 : int(16 * high + low);
}

/// The bytes of the names of tokens in a vocabulary.
class WrittenBytes {
 public:
  explicit WrittenBytes(bool of_characters) : of_characters_(of_characters) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::uint32_t code = written_byte(b);
      is_written_[code] = true, byte_of_[code] = char(b);
    }
  }
  /// False if a name is not written by bytes.
  bool of(const std::string& name, std::string& bytes) const {
    bytes = of_characters_ ? name : "";
    if (of_characters_) read_spaces(bytes);
    for (std::size_t at = 0; at < name.size() && !of_characters_;) {
      const Character c = first_character(std::string_view(name).substr(at));
      if (c.code >= codes || !is_written_[c.code]) return false;
      bytes += byte_of_[c.code];
      at += std::size_t(c.bytes);
    }
    return true;
  }

 private:
  static constexpr std::size_t codes = 512;  // more than those that stand for bytes
  bool of_characters_, is_written_[codes] = {};
  char byte_of_[codes] = {};
};

}  // namespace detail

TERN_COLD BytePairEncoding::BytePairEncoding(const detail::TokenizerParts& parts)
    : front_(parts.front), back_(parts.back), rule_(parts.rule), puts_space_(parts.puts_space),
      of_characters_(parts.of_characters), composes_(parts.composes), strips_space_(parts.strips_space),
      ignores_merges_(parts.ignores_merges) {
  const detail::WrittenBytes written(of_characters_);
  std::fill(std::begin(of_byte_), std::end(of_byte_), Index(-1));
  const auto refuse = [](const std::string& path, const auto&... why) {
    Error::fail("BytePairEncoding", {"'", path, "': ", why...});
  };
  constexpr Index most = 1 << 24;
  std::string bytes;
  const auto check = [&](const std::string& name, Index token) {
    if (token < 0 || token >= most) refuse(parts.path, "token '", name, "' has number ", token, ", beyond ", most);
  };
  for (const auto& [name, token] : parts.vocab) {
    check(name, token);
    if (!written.of(name, bytes)) bytes = name;  // an added token, in plain text
    if (token < size() && !bytes_[std::size_t(token)].empty() && bytes_[std::size_t(token)] != bytes)
      refuse(parts.path, "tokens '", bytes_[std::size_t(token)], "' and '", bytes, "' have one number, ", token);
    const int byte = of_characters_ ? detail::byte_of(name) : -1;
    if (byte < 0) {
      set_token(token, bytes);
    } else {  // a token of the character may lie beside it
      if (token >= size()) bytes_.resize(std::size_t(token) + 1);
      bytes_[std::size_t(token)] = char(byte), of_byte_[byte] = token;
    }
  }
  const auto token_of = [&](const std::string& name, const std::string& left, const std::string& right) {
    const auto found = written.of(name, bytes) ? tokens_.find(bytes) : tokens_.end();
    if (found == tokens_.end())
      refuse(parts.merges_path, "merge '", left, " ", right, "' needs a token that the vocabulary lacks, '", name, "'");
    return found->second;
  };
  for (const auto& [left, right] : parts.merges) {
    const Index a = token_of(left, left, right), b = token_of(right, left, right),
                both = token_of(left + right, left, right);
    merges_[pair(a, b)] = {Index(merges_.size()),
                           both};  // the last one counts where a pair occurs twice, as in Hugging Face's reader
  }
  for (unsigned b = 0; b < 256; ++b) {
    if (!of_characters_) of_byte_[b] = find(std::string(1, char(b)));
    if (of_byte_[b] < 0) refuse(parts.path, "the vocabulary lacks byte ", Index(b));
  }
  for (const detail::AddedToken& token : parts.added) {
    if (token.text.empty()) refuse(parts.path, "an added token is empty");
    check(token.text, token.token);
    set_token(token.token, token.text);
    added_.push_back(token);
    if (token.late) set_token(token.token, added_.back().text = normal(token.text));
  }
  for (const std::vector<Index>* const side : {&front_, &back_})
    for (const Index token : *side)
      if (token >= size()) refuse(parts.path, "post_processor adds token ", token, " of ", size());
}

TERN_INLINE void BytePairEncoding::set_token(Index token, const std::string& bytes) {
  if (token >= size()) bytes_.resize(std::size_t(token) + 1);
  bytes_[std::size_t(token)] = bytes;
  tokens_[bytes] = token;
}

TERN_COLD BytePairEncoding BytePairEncoding::load(const std::string& path, CallSite here) {
  const CallScope scope(here);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return BytePairEncoding(detail::read_tokenizer(path));
  const std::string file = path + "/tokenizer.json";
  return io::exists(file) ? load(file) : load(path + "/vocab.json", path + "/merges.txt");
}

TERN_COLD BytePairEncoding BytePairEncoding::load(const std::string& vocab, const std::string& merges,
                                                  const std::string& tokenizer_class, CallSite here) {
  const CallScope scope(here);
  return BytePairEncoding(detail::read_vocabulary(vocab, merges, tokenizer_class));
}

TERN_INLINE Index BytePairEncoding::find(const std::string& bytes, CallSite here) const {
  const CallScope scope(here);
  const auto found = tokens_.find(bytes);
  return found == tokens_.end() ? -1 : found->second;
}

TERN_INLINE const detail::AddedToken* BytePairEncoding::first_added(std::string_view text, bool late,
                                                                    std::size_t& at) const {
  bool begins[256] = {};
  for (const detail::AddedToken& each : added_)
    if (each.late == late) begins[static_cast<unsigned char>(each.text[0])] = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!begins[static_cast<unsigned char>(text[i])]) continue;
    const detail::AddedToken* best = nullptr;
    for (const detail::AddedToken& each : added_)
      if (each.late == late && text.substr(i).starts_with(each.text) && (!best || each.text.size() > best->text.size()))
        best = &each;
    if (!best) continue;
    at = i;
    return best;
  }
  return nullptr;
}

TERN_INLINE std::vector<Index> BytePairEncoding::encode(std::string_view text, bool add_special_tokens,
                                                        CallSite here) const {
  const CallScope scope(here);
  std::vector<Index> tokens;
  if (add_special_tokens) tokens = front_;
  encode_around_added(text, false, true, tokens);
  if (add_special_tokens) tokens.insert(tokens.end(), back_.begin(), back_.end());
  return tokens;
}

TERN_INLINE std::string BytePairEncoding::normal(std::string_view text) const {
  std::string out = composes_ ? detail::compose(text) : std::string(text);
  if (of_characters_) detail::read_spaces(out);
  return puts_space_ == detail::PutSpace::always && !out.empty() ? " " + out : out;
}

TERN_INLINE void BytePairEncoding::encode_around_added(std::string_view text, bool late, bool is_first,
                                                       std::vector<Index>& tokens) const {
  const auto is_space = [](std::string_view t) {
    return !t.empty() && first_character(t).kind == CharacterClass::space;
  };
  const auto character = [](std::string_view t) { return std::size_t(first_character(t).bytes); };
  while (!text.empty()) {
    std::size_t at = text.size();
    const detail::AddedToken* const special = first_added(text, late, at);
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
    if (late) encode_text(before, is_first, tokens);
    else encode_around_added(normal(before), true, is_first, tokens);
    if (!special) return;
    is_first = false;
    tokens.push_back(special->token);
    text.remove_prefix(at + special->text.size());
    while (special->takes_space_after && is_space(text)) text.remove_prefix(character(text));
  }
}

TERN_INLINE void BytePairEncoding::encode_text(std::string_view text, bool is_first, std::vector<Index>& tokens) const {
  using detail::PutSpace;
  std::string spaced;
  const bool puts_space =
      puts_space_ == PutSpace::unless_there || (puts_space_ == PutSpace::unless_there_first && is_first);
  if (puts_space && !text.empty() && text[0] != ' ') text = spaced = " " + std::string(text);
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
  const auto append = [&](Index token) {
    const int i = int(symbols.size());
    symbols.push_back({token, i - 1, i + 1});
  };
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t bytes = of_characters_ ? std::size_t(first_character(piece.substr(at)).bytes) : 1;
    const Index whole = of_characters_ ? find(std::string(piece.substr(at, bytes))) : -1;
    if (whole >= 0) append(whole);
    for (std::size_t i = 0; whole < 0 && i < bytes; ++i) append(of_byte_[static_cast<unsigned char>(piece[at + i])]);
    at += bytes;
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

TERN_INLINE std::string BytePairEncoding::decode(std::span<const Index> tokens, CallSite here) const {
  const CallScope scope(here);
  std::string text;
  for (const Index token : tokens) {
    if (token < 0 || token >= size()) Error::fail("BytePairEncoding", {"there is no token ", token, " of ", size()});
    text += bytes_[std::size_t(token)];
  }
  if (strips_space_ && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}}}  // namespace tern::data
