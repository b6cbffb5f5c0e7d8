// The functions of line_stream.hpp that are not templates.
#pragma once
#include <cstring>

#include "line_stream.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD bool LineStream::Reader::next(std::string& line) {
  line.clear();
  for (bool any = false;;) {
    if (at_ == filled_) {
      filled_ = std::size_t(file_.read_some(buffer_, sizeof buffer_)), at_ = 0;
      if (filled_ == 0) {
        if (any) end_line(line);
        return any;
      }
    }
    any = true;
    const char* const from = buffer_ + at_;
    const auto* const found = static_cast<const char*>(std::memchr(from, '\n', filled_ - at_));
    line.append(from, found ? found : buffer_ + filled_);
    at_ = found ? std::size_t(found - buffer_) + 1 : filled_;
    if (!found) continue;
    end_line(line);
    return true;
  }
}

TERN_INLINE void LineStream::Reader::end_line(std::string& line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (++number_ > 1) return;
  io::refuse_utf16("LineStream", path(), line);
  if (io::begins_with_mark(line)) line.erase(0, 3);
}

TERN_COLD void LineStream::Reader::refuse(const char* op, std::initializer_list<tern::detail::Piece> rule) const {
  Error::fail(op, {"'", path(), "', line ", number_, ": ", tern::detail::text(rule)});
}

}}}  // namespace tern::data
