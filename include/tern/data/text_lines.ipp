// The functions of text_lines.hpp that are not templates.
#pragma once
#include "text_lines.hpp"

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE TextLines TextLines::load(const std::string& path) {
  constexpr Index most_bytes = Index(1) << 36;
  TextLines lines;
  lines.content_ = io::read_gzip(path, most_bytes);
  for (std::size_t at = 0; at < lines.content_.size();) {
    lines.begin_.push_back(at);
    const std::size_t end = lines.content_.find('\n', at);
    at = end == std::string::npos ? lines.content_.size() : end + 1;
  }
  return lines;
}

TERN_INLINE std::string_view TextLines::operator[](Index i) const {
  const std::size_t begin = begin_[std::size_t(i)];
  std::size_t end = i + 1 < size() ? begin_[std::size_t(i + 1)] : content_.size();
  if (content_[end - 1] == '\n') --end;
  if (end > begin && content_[end - 1] == '\r') --end;
  return std::string_view(content_).substr(begin, end - begin);
}

}  // namespace tern::data
