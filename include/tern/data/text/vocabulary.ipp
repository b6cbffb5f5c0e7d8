// The functions of vocabulary.hpp that are not templates.
#pragma once
#include <algorithm>
#include <utility>

#include "../../io/file.hpp"
#include "line_stream.hpp"
#include "vocabulary.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_INLINE Index TokenCounts::operator[](const std::string& token) const {
  const auto found = counts_.find(token);
  return found == counts_.end() ? 0 : found->second;
}

TERN_COLD std::vector<std::string> TokenCounts::by_frequency() const {
  std::vector<const std::pair<const std::string, Index>*> all;
  for (const auto& each : counts_) all.push_back(&each);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  std::vector<std::string> tokens;
  for (const auto* each : all) tokens.push_back(each->first);
  return tokens;
}

TERN_COLD Vocabulary::Vocabulary(const TokenCounts& counts, const VocabularyOptions& options, CallSite here)
    : Vocabulary(options.specials, here) {
  const CallScope scope(here);
  if (options.max_tokens > 0 && options.max_tokens < size())
    Error::fail("Vocabulary", {"max_tokens ", options.max_tokens, " leaves no room for ", size(), " specials"});
  for (std::string& token : counts.by_frequency()) {
    if ((options.max_tokens > 0 && size() == options.max_tokens) || counts[token] < options.min_freq) break;
    if (numbers_.try_emplace(token, size()).second) tokens_.push_back(std::move(token));
  }
}

TERN_COLD Vocabulary::Vocabulary(std::vector<std::string> tokens, CallSite here) : tokens_(std::move(tokens)) {
  const CallScope scope(here);
  for (const std::string& token : tokens_)
    if (!numbers_.try_emplace(token, Index(numbers_.size())).second)
      Error::fail("Vocabulary", {"token '", token, "' occurs twice"});
}

TERN_INLINE Index Vocabulary::operator[](tern::detail::At<std::string> token) const {
  const auto found = numbers_.find(token.tensor);
  if (found != numbers_.end()) return found->second;
  if (default_index_ < 0)
    Error::fail({"Vocabulary", token.here}, {"token '", token.tensor, "' is not known, and there is no default index"});
  return default_index_;
}

TERN_INLINE std::vector<Index> Vocabulary::lookup_indices(const std::vector<std::string>& tokens, CallSite here) const {
  const CallScope scope(here);
  std::vector<Index> numbers;
  numbers.reserve(tokens.size());
  for (const std::string& token : tokens) numbers.push_back((*this)[token]);
  return numbers;
}

TERN_INLINE const std::string& Vocabulary::lookup_token(Index number, CallSite here) const {
  const CallScope scope(here);
  if (number < 0 || number >= size()) Error::fail("Vocabulary", {"there is no token ", number, " of ", size()});
  return tokens_[std::size_t(number)];
}

TERN_COLD std::vector<std::string> Vocabulary::lookup_tokens(const std::vector<Index>& numbers, CallSite here) const {
  const CallScope scope(here);
  std::vector<std::string> tokens;
  for (const Index number : numbers) tokens.push_back(lookup_token(number));
  return tokens;
}

TERN_COLD void Vocabulary::append_token(const std::string& token, CallSite here) {
  if (!numbers_.try_emplace(token, size()).second)
    Error::fail({"Vocabulary", here}, {"token '", token, "' is already token ", numbers_[token]});
  tokens_.push_back(token);
}

TERN_INLINE void Vocabulary::set_default_index(Index number, CallSite here) {
  const CallScope scope(here);
  if (number >= size()) Error::fail("Vocabulary", {"default index ", number, " is no token of ", size()});
  default_index_ = number;
}

TERN_COLD void Vocabulary::save(const std::string& path, CallSite here) const {
  const CallScope scope(here);
  std::string out = tern::detail::text({"default_index ", default_index_, "\n"});
  for (const std::string& token : tokens_) {
    for (const char c : token) {
      if (c == '\\') out += "\\\\";
      else if (c == '\n') out += "\\n";
      else if (c == '\r') out += "\\r";
      else out += c;
    }
    out += '\n';
  }
  io::write_file_atomically(path, out);
}

TERN_COLD Vocabulary Vocabulary::load(const std::string& path, CallSite here) {
  const CallScope scope(here);
  LineStream::Reader file(path);
  std::string line;
  const std::string head = "default_index ";
  char* end = nullptr;
  if (!file.next(line) || !line.starts_with(head)) file.refuse("Vocabulary", {"'default_index' is missing"});
  const Index default_index = std::strtoll(line.c_str() + head.size(), &end, 10);
  if (*end || end == line.c_str() + head.size())
    file.refuse("Vocabulary", {"'", line.substr(head.size()), "' is no number"});
  std::vector<std::string> tokens;
  std::unordered_map<std::string, Index> seen;
  while (file.next(line)) {
    std::string token;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != '\\') {
        token += line[i];
        continue;
      }
      const char c = ++i < line.size() ? line[i] : '\0';
      if (c != '\\' && c != 'n' && c != 'r') file.refuse("Vocabulary", {"a backslash is not followed by \\, n or r"});
      token += c == 'n' ? '\n' : c == 'r' ? '\r' : '\\';
    }
    if (!seen.try_emplace(token, file.number()).second)
      file.refuse("Vocabulary", {"token '", token, "' is that of line ", seen[token]});
    tokens.push_back(std::move(token));
  }
  Vocabulary vocabulary(std::move(tokens));
  if (default_index >= vocabulary.size())
    Error::fail("Vocabulary", {"'", path, "': default_index ", default_index, " is no token of ", vocabulary.size()});
  vocabulary.default_index_ = default_index;
  return vocabulary;
}

}}}  // namespace tern::data
