// Byte-level byte-pair encoding, the tokens of GPT-2, Llama 3 and Qwen (Sennrich, Haddow, Birch: "Neural machine translation of rare words
// with subword units", 2016; Radford et al.: "Language models are unsupervised multitask learners", 2019).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pieces.hpp"

namespace tern::inline TERN_BUILD::data {

/// Text as tokens: pieces of bytes, made by merging those pairs of neighbours first that come first in a list. Each text of any bytes has
/// tokens, and decode(encode(text)) is the text.
class TERN_API BytePairEncoding {
 public:
  /// GPT-2's two files, vocab.json and merges.txt. <|endoftext|> is one token, if the vocabulary has it.
  static BytePairEncoding load(const std::string& vocab, const std::string& merges);
  /// Hugging Face's tokenizer.json. Error that names what differs from byte-level BPE as GPT-2, Llama 3 and Qwen have it.
  static BytePairEncoding load(const std::string& tokenizer);

  /// One more than the largest token.
  Index size() const { return Index(bytes_.size()); }

  /// The tokens of a text. No token that begins or ends a text is added.
  std::vector<Index> encode(std::string_view text) const;
  /// The bytes of the tokens. Error if there is no such token.
  std::string decode(std::span<const Index> tokens) const;
  /// The token that is exactly these bytes, such as <|endoftext|>; -1 if there is none.
  Index find(const std::string& bytes) const;

 private:
  struct Merge {
    Index rank, token;
  };
  /// A token that is found in the text before it is cut into pieces; if `late`, after the added tokens that are not.
  struct Added {
    std::string text;
    Index token;
    bool takes_space_before, takes_space_after, late;
  };
  class File;

  void set_token(const std::string& name, Index token, const File& file);
  void add_merge(const std::string& left, const std::string& right, const File& file);
  void add_special(const Added& special, const File& file);
  void finish(const File& file);
  /// The added token that a text has first, the longest of several; null if it has none. `at` is its position.
  const Added* first_added(std::string_view text, bool late, std::size_t& at) const;
  void encode_around_added(std::string_view text, bool late, std::vector<Index>& tokens) const;
  void encode_text(std::string_view text, std::vector<Index>& tokens) const;
  void encode_piece(std::string_view piece, std::vector<Index>& tokens) const;
  static std::uint64_t pair(Index left, Index right) { return std::uint64_t(left) << 32 | std::uint64_t(right); }

  std::vector<std::string> bytes_;                 // of each token
  std::unordered_map<std::string, Index> tokens_;  // by their bytes
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::vector<Added> added_;
  Index of_byte_[256];
  detail::PieceRule rule_ = detail::PieceRule::gpt2;
  bool adds_space_ = false;      // in front of a text that does not begin with one
  bool ignores_merges_ = false;  // where a piece is a token
};

}  // namespace tern::data

#ifndef TERN_COMPILED
#include "byte_pair_encoding.ipp"
#endif
