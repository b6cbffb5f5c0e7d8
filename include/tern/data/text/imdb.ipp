// The functions of imdb.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "../folder.hpp"
#include "imdb.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// Appends the .txt files of a folder, by the number that their names begin with.
TERN_COLD void append_reviews(const std::string& folder, std::vector<std::string>& files) {
  const std::size_t first = files.size();
  for (const std::string& name : names_in("Imdb", folder))
    if (name.ends_with(".txt")) files.push_back(tern::detail::text({folder, "/", name}));
  const auto number = [&](const std::string& path) {
    return std::strtoll(path.c_str() + folder.size() + 1, nullptr, 10);
  };
  std::stable_sort(files.begin() + std::ptrdiff_t(first), files.end(),
                   [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
}

}  // namespace detail

TERN_COLD Imdb::Imdb(const std::string& folder, const ImdbOptions& options, CallSite here) {
  const CallScope scope(here);
  const std::string half = options.train ? "train" : "test";
  table_ = detail::find_plain_or_gzip(folder, half + ".tsv");
  if (!table_.empty()) return;
  const std::string files = folder + '/' + half;
  if (!io::exists(files + "/pos"))
    Error::fail("Imdb", {"'", folder, "' has neither ", half, ".tsv, plain or gzip, nor a folder ", half, "/pos"});
  detail::append_reviews(files + "/pos", files_);
  positive_ = files_.size();
  detail::append_reviews(files + "/neg", files_);
}

TERN_INLINE Imdb::Iterator::Iterator(const Imdb& set) : set_(set) {
  if (!set.table_.empty()) table_.emplace(set.table_);
  ++*this;
}

TERN_INLINE void Imdb::Iterator::operator++() {
  constexpr Index longest = 1 << 26;
  if (!table_) {
    ended_ = next_ == set_.files_.size();
    if (ended_) return;
    review_ = {io::read_file(set_.files_[next_], longest), next_ < set_.positive_};
    ++next_;
    return;
  }
  std::string line;
  ended_ = !table_->next(line);
  if (ended_) return;
  if (line.size() < 2 || line[1] != '\t' || (line[0] != '0' && line[0] != '1'))
    table_->refuse("Imdb", {"a line is 0 or 1, a tab and the text"});
  review_ = {line.substr(2), line[0] == '1'};
}

}}}  // namespace tern::data
