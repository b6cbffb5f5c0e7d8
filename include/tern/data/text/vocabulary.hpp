// Vocabulary: the tokens that a network knows, by number.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// How often each token was seen.
class TERN_API TokenCounts {
 public:
  void add(const std::string& token, Index times = 1) { counts_[token] += times; }
  void add(const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) add(token);
  }
  Index operator[](const std::string& token) const;
  /// The tokens, the most frequent first; equally frequent ones in alphabetical order of their bytes.
  std::vector<std::string> by_frequency() const;

 private:
  std::unordered_map<std::string, Index> counts_;
};

struct VocabularyOptions {
  Index max_tokens = 0;                    ///< how many tokens are kept, specials included; 0: all
  Index min_freq = 1;                      ///< rarer tokens are left out
  std::vector<std::string> specials = {};  ///< come first, in this order
};

/// Tokens and their numbers, as torchtext's Vocab: first the specials, then the others by frequency.
class TERN_API Vocabulary {
 public:
  Vocabulary() {}
  explicit Vocabulary(const TokenCounts& counts, const VocabularyOptions& options = {}, CallSite here = {});
  /// These tokens, in this order. Error if one occurs twice.
  explicit Vocabulary(std::vector<std::string> tokens, CallSite here = {});

  Index size() const { return Index(tokens_.size()); }
  bool contains(const std::string& token) const { return numbers_.count(token) != 0; }
  /// The token's number; the default index if it is not known. Error if there is no default index.
  Index operator[](tern::detail::At<std::string> token) const;
  Index operator[](tern::detail::At<const char*> token) const {
    return (*this)[{std::string(token.tensor), token.here}];
  }
  std::vector<Index> lookup_indices(const std::vector<std::string>& tokens, CallSite here = {}) const;
  /// Error if there is no token of this number.
  const std::string& lookup_token(Index number, CallSite here = {}) const;
  std::vector<std::string> lookup_tokens(const std::vector<Index>& numbers, CallSite here = {}) const;
  /// All tokens, in order.
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::vector<std::string>& get_itos() const { return tokens_; }
  /// The number of each token.
  const std::unordered_map<std::string, Index>& get_stoi() const { return numbers_; }
  /// Adds a token behind the others. Error if it is known.
  void append_token(const std::string& token, CallSite here = {});

  /// The number that tokens get that are not known. Negative: there is none.
  void set_default_index(Index number, CallSite here = {});
  Index default_index() const { return default_index_; }

  /// Writes a text file: the default index, then a token a line, with \\, \n and \r for a backslash and line ends. It
  /// appears complete or not at all.
  void save(const std::string& path, CallSite here = {}) const;
  /// Error that names file and line if the file is damaged.
  static Vocabulary load(const std::string& path, CallSite here = {});

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, Index> numbers_;
  Index default_index_ = -1;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "vocabulary.ipp"
#endif
