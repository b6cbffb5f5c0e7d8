// What the files of a byte-level tokeniser say: Hugging Face's tokenizer.json, or vocab.json and merges.txt.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pieces.hpp"

namespace tern::inline TERN_BUILD::data::detail {

/// A token that is found in the text before it is cut into pieces; if `late`, in the normalised text, after the added tokens that are not.
struct AddedToken {
  std::string text{};
  Index token = -1;
  bool takes_space_before = false, takes_space_after = false, late = false;
};

struct TokenizerParts {
  std::string path, merges_path;                         // for errors
  std::vector<std::pair<std::string, Index>> vocab{};    // tokens' names, in which a character stands for a byte
  std::vector<std::pair<std::string, std::string>> merges{};
  std::vector<AddedToken> added{};
  std::vector<Index> front{}, back{};                    // tokens that begin and end a text
  PieceRule rule = PieceRule::whole;
  bool composes = false;                                 // to Unicode's normalisation form C
  bool adds_space = false;                               // in front of a text that does not begin with one
  bool ignores_merges = false;                           // where a piece is a token
};

/// Reads tokenizer.json. Error that names what a byte-level tokeniser does not have.
TERN_API TokenizerParts read_tokenizer(const std::string& path);

/// Reads vocab.json and merges.txt, and from tokenizer_config.json beside them the added tokens. An empty tokenizer_class stands there too, or
/// is that of config.json's model_type.
TERN_API TokenizerParts read_vocabulary(const std::string& vocab, const std::string& merges, std::string tokenizer_class);

}  // namespace tern::data::detail

#ifndef TERN_COMPILED
#include "tokenizer_files.ipp"
#endif
