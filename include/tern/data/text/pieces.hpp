// How byte-pair encodings cut a text before they merge bytes: the regular expressions of GPT-2, Llama 3 and Qwen,
// written as scanners.
#pragma once
#include <string_view>

#include "characters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data { namespace detail {

/// How a text is cut into pieces, within which bytes are merged.
enum class PieceRule {
  gpt2,
  llama3,  // numbers of up to three digits
  qwen,    // a digit alone
  whole    // not at all
};

/// The length of the first piece of a text that is not empty.
TERN_API std::size_t first_piece(PieceRule rule, std::string_view text);

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "pieces.ipp"
#endif
