// The functions of pieces.hpp that are not templates.
#pragma once
#include "pieces.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// Walks over a text by characters and counts the bytes.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool ended(std::size_t i) const { return i >= text_.size(); }
  Character look(std::size_t i) const { return first_character(text_.substr(i)); }
  bool is(std::size_t i, CharacterClass kind) const { return !ended(i) && look(i).kind == kind; }
  char byte(std::size_t i) const { return ended(i) ? '\0' : text_[i]; }

  /// The end of the characters from i on for which f holds, at most `most` of them.
  template <class F>
  std::size_t run(std::size_t i, const F& f, int most = -1) const {
    while (most-- != 0 && !ended(i)) {
      const Character c = look(i);
      if (!f(c)) break;
      i += std::size_t(c.bytes);
    }
    return i;
  }
  std::size_t run(std::size_t i, CharacterClass kind, int most = -1) const {
    return run(i, [kind](const Character& c) { return c.kind == kind; }, most);
  }
  /// The length of an English contraction at the front ('s, 't, 're, …), else 0.
  std::size_t contraction(bool any_case) const {
    if (byte(0) != '\'') return 0;
    const auto lower = [&](std::size_t i) {
      const char c = byte(i);
      return any_case && c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    };
    const char a = lower(1), b = lower(2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    // Unicode's long s is the other case of s.
    if (any_case && text_.size() >= 3 && text_.substr(1, 2) == "\xc5\xbf") return 3;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
  }
  /// White space from 0 on, without its last character if something else follows.
  std::size_t spaces() const {
    std::size_t end = 0, last = 0;
    while (is(end, CharacterClass::space)) last = end, end += std::size_t(look(end).bytes);
    return ended(end) || last == 0 ? end : last;
  }

 private:
  std::string_view text_;
};

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
inline std::size_t gpt2_piece(const Scanner& s) {
  if (const std::size_t n = s.contraction(false)) return n;
  const std::size_t start = s.byte(0) == ' ' ? 1 : 0;
  for (const CharacterClass kind : {CharacterClass::letter, CharacterClass::number, CharacterClass::other})
    if (s.is(start, kind)) return s.run(start, kind);
  return s.spaces();
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+,
/// with as many digits as a number may have.
inline std::size_t llama3_piece(const Scanner& s, int digits) {
  if (const std::size_t n = s.contraction(true)) return n;
  const Character first = s.look(0);
  const bool breaks = first.code == '\r' || first.code == '\n';
  const std::size_t second = std::size_t(first.bytes);
  if (first.kind == CharacterClass::letter) return s.run(0, CharacterClass::letter);
  if (!breaks && first.kind != CharacterClass::number && s.is(second, CharacterClass::letter))
    return s.run(second, CharacterClass::letter);
  if (first.kind == CharacterClass::number) return s.run(0, CharacterClass::number, digits);
  const auto line_end = [](const Character& c) { return c.code == '\r' || c.code == '\n'; };
  const std::size_t start = s.byte(0) == ' ' ? 1 : 0;
  if (s.is(start, CharacterClass::other)) return s.run(s.run(start, CharacterClass::other), line_end);
  // White space up to its last line end.
  std::size_t end = 0, after_break = 0;
  while (s.is(end, CharacterClass::space)) {
    const Character c = s.look(end);
    end += std::size_t(c.bytes);
    if (line_end(c)) after_break = end;
  }
  return after_break ? after_break : s.spaces();
}

TERN_INLINE std::size_t first_piece(PieceRule rule, std::string_view text) {
  const Scanner s(text);
  switch (rule) {
    case PieceRule::gpt2: return gpt2_piece(s);
    case PieceRule::llama3: return llama3_piece(s, 3);
    case PieceRule::qwen: return llama3_piece(s, 1);
    case PieceRule::whole: break;
  }
  return text.size();
}

}}}  // namespace tern::data::detail
