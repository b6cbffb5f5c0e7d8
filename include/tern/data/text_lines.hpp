// The lines of a text file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../io/gzip.hpp"

namespace tern::inline TERN_BUILD::data {

/// The lines of a file by number, without line breaks. collated(lines, f) makes batches of them.
class TERN_API TextLines {
 public:
  /// Reads a file, plain or gzip. Text after the last line break is a line if it is not empty.
  static TextLines load(const std::string& path);

  Index size() const { return Index(begin_.size()); }

  /// Line i, counted from 0.
  std::string_view operator[](Index i) const;

 private:
  TextLines() {}

  std::string content_;
  std::vector<std::size_t> begin_;
};

}  // namespace tern::data

#ifndef TERN_COMPILED
#include "text_lines.ipp"
#endif
