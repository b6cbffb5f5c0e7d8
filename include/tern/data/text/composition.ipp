// The functions of composition.hpp that are not templates.
#pragma once
#include <iterator>
#include <vector>

#include "../../io/json_reader.hpp"
#include "composition.hpp"
#include "composition_table.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// The syllables of Hangul are numbered: leading consonant, vowel, and one of 27 trailing consonants or none (Unicode
/// Standard, 3.12).
namespace hangul {
inline constexpr std::uint32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161,
                               trails = 0x11a7;  // trails + 0 is none
inline constexpr std::uint32_t lead_count = 19, vowel_count = 21, trail_count = 28,
                               count = lead_count * vowel_count * trail_count;
}  // namespace hangul

/// The first of `count` places, in whose order `key` grows, whose key is not less than the one sought.
template <class F>
std::size_t first_place(std::size_t count, std::uint64_t sought, const F& key) {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (key(first + half) < sought) first += half + 1, count -= half + 1;
    else count = half;
  }
  return first;
}

/// The entry of a character; null if it has none.
template <std::size_t n>
const Decomposition* find_entry(const Decomposition (&table)[n], std::uint32_t code) {
  const std::size_t place = first_place(n, code, [&](std::size_t i) { return table[i].code; });
  return place < n && table[place].code == code ? &table[place] : nullptr;
}

/// The character that two become; 0 if they do not.
TERN_INLINE std::uint32_t composition(std::uint32_t first, std::uint32_t second) {
  using namespace hangul;
  const std::uint32_t lead = first - leads, vowel = second - vowels, syllable = first - syllables,
                      trail = second - trails;
  if (lead < lead_count && vowel < vowel_count) return syllables + (lead * vowel_count + vowel) * trail_count;
  if (syllable < count && syllable % trail_count == 0 && trail > 0 && trail < trail_count) return first + trail;
  const auto pair = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t(a) << 32 | b; };
  constexpr std::size_t n = std::size(by_parts);
  const std::size_t place = first_place(n, pair(first, second), [&](std::size_t i) {
    return pair(compositions[by_parts[i]].first, compositions[by_parts[i]].second);
  });
  if (place == n) return 0;
  const Decomposition& found = compositions[by_parts[place]];
  return found.first == first && found.second == second ? found.code : 0;
}

/// A character and its class of combining marks; 0: it is no mark. A byte that is not UTF-8 has a code beyond
/// Unicode's.
struct Mark {
  std::uint32_t code, combining_class;
};
inline constexpr std::uint32_t beyond = 0x110000;

TERN_INLINE std::uint32_t combining_class(std::uint32_t code) {
  const std::size_t place = first_place(std::size(marks), code, [](std::size_t i) { return marks[i].last; });
  return place < std::size(marks) && code >= marks[place].first ? marks[place].combining_class : 0;
}

TERN_INLINE void append_parts(std::vector<Mark>& out, std::uint32_t code) {
  using namespace hangul;
  if (const std::uint32_t syllable = code - syllables; syllable < count) {
    out.push_back({leads + syllable / (vowel_count * trail_count), 0});
    out.push_back({vowels + syllable / trail_count % vowel_count, 0});
    if (syllable % trail_count) out.push_back({trails + syllable % trail_count, 0});
    return;
  }
  const Decomposition* entry = find_entry(compositions, code);
  if (!entry) entry = find_entry(decompositions, code);
  if (!entry) return out.push_back({code, combining_class(code)});
  append_parts(out, entry->first);
  if (entry->second) append_parts(out, entry->second);
}

/// Orders these marks of one character by their classes; those of one class stay in their order.
TERN_INLINE void order_marks(std::vector<Mark>& parts, std::size_t begin, std::size_t end) {
  const std::vector<Mark> given(parts.begin() + std::ptrdiff_t(begin), parts.begin() + std::ptrdiff_t(end));
  std::size_t places[256] = {};  // of the next mark of each class
  for (const Mark& mark : given) ++places[mark.combining_class + 1];
  for (std::size_t i = 1; i < 256; ++i) places[i] += places[i - 1];
  for (const Mark& mark : given) parts[begin + places[mark.combining_class]++] = mark;
}

TERN_INLINE std::string compose(std::string_view text) {
  bool is_composed = true;  // as characters below U+0300 are, which begin with a byte below 0xcc
  for (const char c : text) is_composed = is_composed && static_cast<unsigned char>(c) < 0xcc;
  if (is_composed) return std::string(text);
  std::vector<Mark> parts;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.code == 0xfffd && next.bytes == 1) parts.push_back({beyond + static_cast<unsigned char>(text[at]), 0});
    else append_parts(parts, next.code);
    at += std::size_t(next.bytes);
  }
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end + 1) {
    for (end = begin; end < parts.size() && parts[end].combining_class != 0;) ++end;
    if (end > begin + 1) order_marks(parts, begin, end);
  }
  std::size_t kept = 0, base = 0;
  bool has_base = false;
  for (const Mark part : parts) {
    // A mark of the same class, or none, stands between and keeps the two apart.
    const std::uint32_t before = kept > base + 1 ? parts[kept - 1].combining_class : 0;
    if (has_base && (kept == base + 1 || before < part.combining_class)) {
      if (const std::uint32_t whole = composition(parts[base].code, part.code)) {
        parts[base].code = whole;
        continue;
      }
    }
    if (part.combining_class == 0) base = kept, has_base = true;
    parts[kept++] = part;
  }
  std::string out;
  for (std::size_t i = 0; i < kept; ++i) {
    if (parts[i].code < beyond) io::append_utf8(out, parts[i].code);
    else out += char(parts[i].code - beyond);
  }
  return out;
}

}}}  // namespace tern::data::detail
