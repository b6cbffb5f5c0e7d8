// Characters of UTF-8, and words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

enum class CharacterClass : std::uint8_t { letter, number, space, other };

struct Character {
  std::uint32_t code;
  int bytes;
  CharacterClass kind;
};

/// The first character of a text that is not empty. A byte that begins no valid UTF-8 is a character of its own, of
/// code U+FFFD and class other. Letters (general category L), numbers (N) and white space are Unicode 16.0's.
TERN_API Character first_character(std::string_view text);

/// The characters of a text. Error that names the byte where it is not UTF-8.
TERN_API std::vector<std::string> split_characters(std::string_view text, CallSite here = {});

struct WordOptions {
  bool lower = true;  ///< letters of ASCII become lower case
  /// These become spaces. The default is that of Keras's Tokenizer: all punctuation of ASCII but the apostrophe.
  std::string filters = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n";
};

/// The words of a text: what stands between spaces.
TERN_API std::vector<std::string> split_words(std::string_view text, const WordOptions& options = {},
                                              CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "characters.ipp"
#endif
