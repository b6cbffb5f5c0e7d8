// Byte-pair encoding (Sennrich, Haddow, Birch: "Neural machine translation of rare words with subword units", 2016) of
// bytes, the tokens of GPT-2, Llama 3 and Qwen (Radford et al.: "Language models are unsupervised multitask learners",
// 2019), or of characters, and of bytes where the vocabulary lacks a character, the tokens of Llama 2, Mistral and
// Gemma (Kudo, Richardson: "SentencePiece", 2018).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer_files.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Text as tokens: pieces of bytes, made by merging those pairs of neighbours first that come first in a list. Each
/// text of any bytes has tokens, and decode(encode(text)) is the text; with Qwen's files the text in Unicode's
/// normalisation form C, with those of Mistral the text but for spaces in front and U+2581, which becomes a space.
class TERN_API BytePairEncoding {
 public:
  /// Hugging Face's tokenizer.json, or a folder with that file, else with vocab.json and merges.txt. Error that names
  /// what differs from byte-pair encoding as GPT-2, Llama 2 and 3, Qwen, Mistral and Gemma have it.
  static BytePairEncoding load(const std::string& path, CallSite here = {});
  /// vocab.json and merges.txt. How a text is cut, they do not say: tokenizer_class does, "GPT2Tokenizer" or
  /// "Qwen2Tokenizer". If it is empty, it is what tokenizer_config.json or config.json, which lie beside vocab.json,
  /// say. Error if none says it.
  static BytePairEncoding load(const std::string& vocab, const std::string& merges,
                               const std::string& tokenizer_class = "", CallSite here = {});

  /// One more than the largest token.
  Index size() const { return Index(bytes_.size()); }

  /// The tokens of a text; with those that begin and end each text, such as Llama 3's <|begin_of_text|>, if
  /// add_special_tokens.
  std::vector<Index> encode(std::string_view text, bool add_special_tokens = false, CallSite here = {}) const;
  /// The bytes of the tokens. Error if there is no such token.
  std::string decode(std::span<const Index> tokens, CallSite here = {}) const;
  /// The token that is exactly these bytes, such as <|endoftext|>; -1 if there is none.
  Index find(const std::string& bytes, CallSite here = {}) const;

 private:
  struct Merge {
    Index rank, token;
  };
  explicit BytePairEncoding(const detail::TokenizerParts& parts);
  void set_token(Index token, const std::string& bytes);
  /// The added token that a text has first, the longest of several; null if it has none. `at` is its position.
  const detail::AddedToken* first_added(std::string_view text, bool late, std::size_t& at) const;
  std::string normal(std::string_view text) const;
  void encode_around_added(std::string_view text, bool late, bool is_first, std::vector<Index>& tokens) const;
  void encode_text(std::string_view text, bool is_first, std::vector<Index>& tokens) const;
  void encode_piece(std::string_view piece, std::vector<Index>& tokens) const;
  static std::uint64_t pair(Index left, Index right) { return std::uint64_t(left) << 32 | std::uint64_t(right); }

  std::vector<std::string> bytes_;                 // of each token
  std::unordered_map<std::string, Index> tokens_;  // by their bytes
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::vector<detail::AddedToken> added_;
  std::vector<Index> front_, back_;
  Index of_byte_[256];
  detail::PieceRule rule_;
  detail::PutSpace puts_space_;
  bool of_characters_, composes_, strips_space_, ignores_merges_;  // as TokenizerParts says
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "byte_pair_encoding.ipp"
#endif
