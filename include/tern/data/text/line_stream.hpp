// The lines of a text file, one after the other.
#pragma once
#include <iterator>
#include <string>

#include "../../io/gzip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// The lines of a file, plain or gzip, without line breaks and a byte-order mark: for (const std::string& line :
/// LineStream(path)). It holds a part of the file at a time. Text after the last line break is a line if it is not
/// empty.
class TERN_API LineStream {
 public:
  explicit LineStream(std::string path) : path_(std::move(path)) {}

  class TERN_API Reader {
   public:
    explicit Reader(const std::string& path) : file_(path, INT64_MAX) {}
    /// The next line. False if there is none.
    bool next(std::string& line);
    /// The number of the line read last, counted from 1.
    Index number() const { return number_; }
    const std::string& path() const { return file_.path(); }
    /// Throws Error("op: 'path', line N: rule").
    [[noreturn]] void refuse(const char* op, std::initializer_list<tern::detail::Piece> rule) const;

   private:
    void end_line(std::string& line);

    io::GzipReader file_;
    Index number_ = 0;
    std::size_t at_ = 0, filled_ = 0;
    char buffer_[1 << 16];
  };

  class Iterator {
   public:
    explicit Iterator(const std::string& path) : reader_(path) { ++*this; }
    const std::string& operator*() const { return line_; }
    void operator++() { ended_ = !reader_.next(line_); }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.ended_; }

   private:
    Reader reader_;
    std::string line_;
    bool ended_ = false;
  };
  Iterator begin() const { return Iterator(path_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::string path_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "line_stream.ipp"
#endif
