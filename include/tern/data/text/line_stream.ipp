// The functions of line_stream.hpp that are not templates.
#pragma once
#include <cstring>

#include "line_stream.hpp"

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE bool LineStream::Reader::next(std::string& line) {
  line.clear();
  for (bool any = false;;) {
    if (at_ == filled_) {
      filled_ = std::size_t(file_.read_some(buffer_, sizeof buffer_)), at_ = 0;
      if (filled_ == 0) {
        number_ += any;
        return any;
      }
    }
    any = true;
    const char* const from = buffer_ + at_;
    const auto* const found = static_cast<const char*>(std::memchr(from, '\n', filled_ - at_));
    line.append(from, found ? found : buffer_ + filled_);
    at_ = found ? std::size_t(found - buffer_) + 1 : filled_;
    if (!found) continue;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++number_;
    return true;
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void LineStream::Reader::refuse(const char* op, std::initializer_list<tern::detail::Piece> rule) const {
  fail(op, {"'", path(), "', line ", number_, ": ", tern::detail::text(rule)});
}

}  // namespace tern::data
