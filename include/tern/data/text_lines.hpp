// The lines of a text file.
#pragma once
#include <string>
#include <string_view>

#include "../io/gzip.hpp"
#include "positions.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The lines of a file by number, without line breaks, which are LF or CR LF, and without a byte-order mark.
/// collated(lines, f) makes batches of them.
class TERN_API TextLines {
 public:
  /// Reads a file, plain or gzip. Text after the last line break is a line if it is not empty. The text may have
  /// max_bytes; if it is negative, 8 times the file's size, and at least 1 GB.
  static TextLines load(const std::string& path, Index max_bytes = -1, CallSite here = {});

  Index size() const { return begin_.size(); }

  /// Line i, counted from 0. Error if there is none.
  std::string_view operator[](tern::detail::At<Index> i) const;

 private:
  TextLines() {}

  std::string content_;
  detail::Positions begin_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "text_lines.ipp"
#endif
