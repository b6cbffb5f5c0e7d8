// Reading files that are plain or gzip-compressed (RFC 1952).
#pragma once
#include <zlib.h>

#include <string_view>

#include "file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// Reads a file from front to back, and decompresses it if it is gzip. A file whose name ends in .gz must be gzip.
/// Error when its content becomes larger than most_content() allows.
class TERN_API GzipReader {
 public:
  explicit GzipReader(const std::string& path, Index max_bytes = -1, CallSite here = {})
      : GzipReader(CallScope(here), path, max_bytes) {}
  ~GzipReader() {
    if (compressed_) inflateEnd(&stream_);
  }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  const std::string& path() const { return file_.path(); }
  /// The size of the file, compressed or not.
  Index file_size() const { return file_.size(); }
  /// The most bytes of content that are read.
  Index most() const { return most_; }

  /// Reads up to n bytes of content; fewer only at the end. Error if the file is corrupt or truncated.
  Index read_some(void* out, Index n);

  /// Reads n bytes of content. Error if there are fewer.
  void read(void* out, Index n);

  /// Error if there is more content. It also compares the checksum.
  void expect_end();

 private:
  GzipReader(const CallScope&, const std::string& path, Index max_bytes);

  static constexpr int gzip_window_bits = 15 + 16;  // the largest window; gzip's header and trailer
  static constexpr std::size_t most_at_once = std::size_t(1) << 30;

  bool refill() {
    stream_.next_in = buffer_;
    stream_.avail_in = uInt(file_.read(buffer_, sizeof buffer_));
    return stream_.avail_in != 0;
  }

  /// Some bytes of content, at least one unless it is at the end.
  Index next(unsigned char* out, Index n);

  void copy_some();

  void inflate_some();

  File file_;
  z_stream stream_{};
  Index content_ = 0, most_;
  bool compressed_ = false, member_ended_ = false, first_member_ = true;
  unsigned char buffer_[1 << 16];
};

/// The content of a file, plain or gzip. Error if it has more bytes than most_content() allows.
TERN_API std::string read_gzip(const std::string& path, Index max_bytes = -1, CallSite here = {});

/// True for the byte-order mark with which some programs begin a text in UTF-8.
inline bool begins_with_mark(std::string_view text) { return text.starts_with("\xef\xbb\xbf"); }
/// Error that names op and file if the text begins with the byte-order mark of UTF-16, whose characters are not bytes.
TERN_API void refuse_utf16(const char* op, const std::string& path, std::string_view text);
/// The text of a file, plain or gzip, without a byte-order mark. Error, in the name of op, if it is UTF-16.
TERN_API std::string read_text(const char* op, const std::string& path, Index max_bytes = -1);

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "gzip.ipp"
#endif
