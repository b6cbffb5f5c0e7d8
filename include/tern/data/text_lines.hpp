// The lines of a text file.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <string>
#include <string_view>
#include <vector>

#include "../io/gzip.hpp"

namespace tern::inline TERN_BUILD::data {

/// A file's lines by their numbers, without their ends; collated(lines, f) makes batches of them.
class TextLines {
 public:
  /// Reads a file, plain or gzip. What follows the last line's end is a line if it is not empty.
  [[gnu::noinline, gnu::cold]] static TextLines load(const std::string& path) {
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

  Index size() const { return Index(begin_.size()); }

  /// Line i, counted from 0.
  std::string_view operator[](Index i) const {
    const std::size_t begin = begin_[std::size_t(i)];
    std::size_t end = i + 1 < size() ? begin_[std::size_t(i + 1)] : content_.size();
    if (content_[end - 1] == '\n') --end;
    if (end > begin && content_[end - 1] == '\r') --end;
    return std::string_view(content_).substr(begin, end - begin);
  }

 private:
  TextLines() {}

  std::string content_;
  std::vector<std::size_t> begin_;
};

}  // namespace tern::data
