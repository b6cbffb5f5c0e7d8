// The functions of text_lines.hpp that are not templates.
#pragma once
#include "text_lines.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD TextLines TextLines::load(const std::string& path, Index max_bytes, CallSite here) {
  const CallScope scope(here);
  return tern::detail::within_memory("TextLines", path.c_str(), [&] {
    TextLines lines;
    lines.content_ = io::read_text("TextLines", path, max_bytes);
    for (std::size_t at = 0; at < lines.content_.size();) {
      lines.begin_.push_back(at);
      const std::size_t end = lines.content_.find('\n', at);
      at = end == std::string::npos ? lines.content_.size() : end + 1;
    }
    return lines;
  });
}

TERN_INLINE std::string_view TextLines::operator[](Index i) const {
  if (i < 0 || i >= size()) Error::fail("TextLines", {"there is no line ", i, " of ", size()});
  const std::size_t begin = begin_[i];
  std::size_t end = i + 1 < size() ? begin_[i + 1] : content_.size();
  if (content_[end - 1] == '\n') --end;
  if (end > begin && content_[end - 1] == '\r') --end;
  return std::string_view(content_).substr(begin, end - begin);
}

}}}  // namespace tern::data
