// The functions of composition.hpp that are not templates.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "../../io/json_reader.hpp"
#include "composition.hpp"
#include "composition_table.hpp"

namespace tern::inline TERN_BUILD::data::detail {

/// The syllables of Hangul are numbered: leading consonant, vowel, and one of 27 trailing consonants or none (Unicode Standard, 3.12).
namespace hangul {
inline constexpr std::uint32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161, trails = 0x11a7;  // trails + 0 is none
inline constexpr std::uint32_t lead_count = 19, vowel_count = 21, trail_count = 28, count = lead_count * vowel_count * trail_count;
}  // namespace hangul

/// The table's content by character, and by the two that become one.
struct Compositions {
  std::unordered_map<std::uint64_t, std::uint64_t> parts, wholes;
  static std::uint64_t pair(std::uint32_t first, std::uint32_t second) { return std::uint64_t(first) << 32 | second; }

  Compositions() {
    for (const Decomposition& d : compositions) parts[d.code] = pair(d.first, d.second), wholes[pair(d.first, d.second)] = d.code;
    for (const Decomposition& d : decompositions) parts[d.code] = pair(d.first, d.second);
  }
  static const Compositions& get() {
    static const Compositions all;
    return all;
  }
  /// The character that two become; 0 if they do not.
  std::uint32_t whole(std::uint32_t first, std::uint32_t second) const {
    using namespace hangul;
    const std::uint32_t lead = first - leads, vowel = second - vowels, syllable = first - syllables, trail = second - trails;
    if (lead < lead_count && vowel < vowel_count) return syllables + (lead * vowel_count + vowel) * trail_count;
    if (syllable < count && syllable % trail_count == 0 && trail > 0 && trail < trail_count) return first + trail;
    const auto found = wholes.find(pair(first, second));
    return found == wholes.end() ? 0 : std::uint32_t(found->second);
  }
};

/// A character and its class of combining marks; 0: it is no mark. A byte that is not UTF-8 has a code beyond Unicode's.
struct Mark {
  std::uint32_t code, combining_class;
};
inline constexpr std::uint32_t beyond = 0x110000;

TERN_INLINE std::uint32_t combining_class(std::uint32_t code) {
  const auto* const range = std::upper_bound(std::begin(marks), std::end(marks), code,
                                             [](std::uint32_t c, const MarkRange& r) { return c <= r.last; });
  return range != std::end(marks) && code >= range->first ? range->combining_class : 0;
}

TERN_INLINE void append_parts(std::vector<Mark>& out, std::uint32_t code) {
  using namespace hangul;
  if (const std::uint32_t syllable = code - syllables; syllable < count) {
    out.push_back({leads + syllable / (vowel_count * trail_count), 0});
    out.push_back({vowels + syllable / trail_count % vowel_count, 0});
    if (syllable % trail_count) out.push_back({trails + syllable % trail_count, 0});
    return;
  }
  const auto& parts = Compositions::get().parts;
  const auto found = parts.find(code);
  if (found == parts.end()) return out.push_back({code, combining_class(code)});
  append_parts(out, std::uint32_t(found->second >> 32));
  if (const auto second = std::uint32_t(found->second)) append_parts(out, second);
}

TERN_INLINE std::string compose(std::string_view text) {
  // Characters below U+0300, which begin with a byte below 0xcc, are composed and no marks.
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xcc; })) return std::string(text);
  std::vector<Mark> parts;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.code == 0xfffd && next.bytes == 1) parts.push_back({beyond + static_cast<unsigned char>(text[at]), 0});
    else append_parts(parts, next.code);
    at += std::size_t(next.bytes);
  }
  for (auto begin = parts.begin(); begin != parts.end();) {  // marks of one character are ordered by their classes
    const auto end = std::find_if(begin, parts.end(), [](const Mark& m) { return m.combining_class == 0; });
    std::stable_sort(begin, end, [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    begin = std::find_if(end, parts.end(), [](const Mark& m) { return m.combining_class != 0; });
  }
  std::size_t kept = 0, base = 0;
  bool has_base = false;
  for (const Mark part : parts) {
    // A mark of the same class, or none, stands between and keeps the two apart.
    const std::uint32_t before = kept > base + 1 ? parts[kept - 1].combining_class : 0;
    if (has_base && (kept == base + 1 || before < part.combining_class)) {
      if (const std::uint32_t whole = Compositions::get().whole(parts[base].code, part.code)) {
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

}  // namespace tern::data::detail
