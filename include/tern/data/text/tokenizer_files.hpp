// What the files of a tokeniser by byte-pair encoding say: Hugging Face's tokenizer.json, or vocab.json and merges.txt.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pieces.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// A token that is found in the text before it is cut into pieces; if `late`, in the normalised text, after the added
/// tokens that are not.
struct AddedToken {
  std::string text{};
  Index token = -1;
  bool takes_space_before = false, takes_space_after = false, late = false;
};

/// Where a space is put in front of a text.
enum class PutSpace {
  never,
  unless_there,        // and of each text after an added token
  unless_there_first,  // but not of a text after an added token
  always               // and of each text after an added token
};

struct TokenizerParts {
  std::string path, merges_path;                       // for errors
  std::vector<std::pair<std::string, Index>> vocab{};  // tokens' names
  std::vector<std::pair<std::string, std::string>> merges{};
  std::vector<AddedToken> added{};
  std::vector<Index> front{}, back{};  // tokens that begin and end a text
  PieceRule rule = PieceRule::whole;
  PutSpace puts_space = PutSpace::never;
  bool of_characters =
      false;              // in names U+2581 is a space, and <0x0A> a byte; otherwise each character stands for a byte
  bool composes = false;  // to Unicode's normalisation form C
  bool strips_space = false;    // in front of a decoded text
  bool ignores_merges = false;  // where a piece is a token
};

/// Reads tokenizer.json. Error that names what no tokeniser of either kind has.
TERN_API TokenizerParts read_tokenizer(const std::string& path);

/// Reads vocab.json and merges.txt, and from tokenizer_config.json beside them the added tokens. An empty
/// tokenizer_class stands there too, or is that of config.json's model_type.
TERN_API TokenizerParts read_vocabulary(const std::string& vocab, const std::string& merges,
                                        std::string tokenizer_class);

}}}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "tokenizer_files.ipp"
#endif
