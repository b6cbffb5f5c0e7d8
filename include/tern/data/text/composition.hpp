// Unicode's normalisation form C: each character that has several spellings is spelled in one way (Unicode Standard
// Annex 15).
#pragma once
#include <string>
#include <string_view>

#include "characters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// NFC of a text, as Hugging Face's tokenizers have it: marks that they do not know, which are newer than Unicode 9,
/// stay where they are. So do bytes that are not UTF-8.
TERN_API std::string compose(std::string_view text);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "composition.ipp"
#endif
