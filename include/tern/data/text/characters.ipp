// The functions of characters.hpp that are not templates.
#pragma once
#include "characters.hpp"
#include "unicode_table.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// Whether one of `count` ranges, which are in order, holds the code.
TERN_NOINLINE bool in_ranges(const CharacterRange* ranges, std::size_t count, std::uint32_t code) {
  while (count > 0) {
    const std::size_t half = count / 2;
    if (code > ranges[half].last) ranges += half + 1, count -= half + 1;
    else if (code < ranges[half].first) count = half;
    else return true;
  }
  return false;
}

template <std::size_t n>
bool in_ranges(const CharacterRange (&ranges)[n], std::uint32_t code) {
  return in_ranges(ranges, n, code);
}

}  // namespace detail

TERN_INLINE Character first_character(std::string_view text) {
  const auto byte = [&](int i) { return std::uint32_t(static_cast<unsigned char>(text[std::size_t(i)])); };
  const std::uint32_t lead = byte(0);
  std::uint32_t code = lead;
  int bytes = 1;
  if (lead >= 0x80) {
    const int more = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    code = lead & (0x3fu >> more);
    bool valid = more > 0 && int(text.size()) > more;
    for (int i = 1; valid && i <= more; ++i) {
      valid = byte(i) >> 6 == 2;
      code = code << 6 | (byte(i) & 0x3f);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (!valid || overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      return {0xfffd, 1, CharacterClass::other};
    bytes = more + 1;
  }
  using detail::in_ranges;
  const CharacterClass kind = in_ranges(detail::letters, code)   ? CharacterClass::letter
                              : in_ranges(detail::numbers, code) ? CharacterClass::number
                              : in_ranges(detail::spaces, code)  ? CharacterClass::space
                                                                 : CharacterClass::other;
  return {code, bytes, kind};
}

TERN_INLINE std::vector<std::string> split_characters(std::string_view text, CallSite here) {
  const CallScope scope(here);
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.code == 0xfffd && next.bytes == 1)
      Error::fail("split_characters", {"the text is not UTF-8 at its byte ", Index(at)});
    characters.emplace_back(text.substr(at, std::size_t(next.bytes)));
    at += std::size_t(next.bytes);
  }
  return characters;
}

TERN_INLINE std::vector<std::string> split_words(std::string_view text, const WordOptions& options, CallSite here) {
  const CallScope scope(here);
  bool separates[256] = {};
  separates[std::size_t(' ')] = true;
  for (const char c : options.filters) separates[static_cast<unsigned char>(c)] = true;
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (separates[static_cast<unsigned char>(c)]) finish();
    else word += options.lower && c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  finish();
  return words;
}

}}}  // namespace tern::data
