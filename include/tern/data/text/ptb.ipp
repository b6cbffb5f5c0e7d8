// The functions of ptb.hpp that are not templates.
#pragma once
#include "../folder.hpp"
#include "line_stream.hpp"
#include "ptb.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

inline constexpr const char *ptb_end = "<eos>", *ptb_unknown = "<unk>";

/// Calls f(word, line number) for each word of a part and for the end of each line.
template <class F>
void for_each_ptb_word(const std::string& path, const F& f) {
  LineStream::Reader lines(path);
  for (std::string line; lines.next(line);) {
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      if (end > at) f(line.substr(at, end - at), lines);
      at = end + 1;
    }
    f(std::string(ptb_end), lines);
  }
}

}  // namespace detail

TERN_COLD Ptb Ptb::load(const std::string& folder, CallSite here) {
  const CallScope scope(here);
  const auto path = [&](const char* part) {
    return detail::plain_or_gzip("Ptb", folder, tern::detail::text({"ptb.", part, ".txt"}));
  };
  TokenCounts counts;
  detail::for_each_ptb_word(path("train"),
                            [&](const std::string& word, const LineStream::Reader&) { counts.add(word); });
  Ptb set;
  set.vocabulary = Vocabulary(counts);
  if (set.vocabulary.contains(detail::ptb_unknown))
    set.vocabulary.set_default_index(set.vocabulary[detail::ptb_unknown]);
  const auto read = [&](const char* part, Tokens& tokens) {
    detail::for_each_ptb_word(path(part), [&](const std::string& word, const LineStream::Reader& at) {
      if (set.vocabulary.default_index() < 0 && !set.vocabulary.contains(word))
        at.refuse("Ptb", {"'", word, "' is not in the training part, which has no ", detail::ptb_unknown});
      tokens.push_back(set.vocabulary[word]);
    });
  };
  read("train", set.train), read("valid", set.valid), read("test", set.test);
  return set;
}

}}}  // namespace tern::data
