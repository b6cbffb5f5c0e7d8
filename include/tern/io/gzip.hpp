// Reading files that are plain or gzip-compressed (RFC 1952).
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <zlib.h>

#include "file.hpp"

namespace tern::inline TERN_BUILD::io {

/// Reads a file from front to back, uncompressing it where it is gzip. A name that ends in .gz must be.
class GzipReader {
 public:
  [[gnu::noinline, gnu::cold]] explicit GzipReader(const std::string& path) : file_(path) {
    refill();
    compressed_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
    if (!compressed_ && path.ends_with(".gz"))
      fail("gzip", {"'", path, "': is not gzip: it does not begin with 1f 8b"});
    if (compressed_ && inflateInit2(&stream_, gzip_window_bits) != Z_OK)
      fail("gzip", {"'", path, "': zlib cannot start: ", stream_.msg ? stream_.msg : "no memory"});
  }
  ~GzipReader() {
    if (compressed_) inflateEnd(&stream_);
  }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  const std::string& path() const { return file_.path(); }

  /// Reads up to n bytes of content; fewer only at its end. Error where the file is corrupt or ends too early.
  [[gnu::noinline, gnu::cold]] Index read_some(void* out, Index n) {
    Index done = 0;
    while (done < n) {
      const Index got = next(static_cast<unsigned char*>(out) + done, n - done);
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  /// Reads n bytes of content. Error where there are fewer.
  [[gnu::noinline, gnu::cold]] void read(void* out, Index n) {
    const Index got = read_some(out, n);
    content_ += got;
    if (got < n)
      fail("gzip", {"'", path(), "': is truncated: its content ends after ", content_, " bytes, ", n - got,
                    " are missing"});
  }

  /// Error where there is more content; the checksum of what was read has been compared then.
  [[gnu::noinline, gnu::cold]] void expect_end() {
    char extra;
    if (read_some(&extra, 1) != 0) fail("gzip", {"'", path(), "': holds more than the ", content_, " bytes expected"});
  }

 private:
  static constexpr int gzip_window_bits = 15 + 16;  // the largest window; gzip's header and trailer
  static constexpr std::size_t most_at_once = std::size_t(1) << 30;

  bool refill() {
    stream_.next_in = buffer_;
    stream_.avail_in = uInt(file_.read(buffer_, sizeof buffer_));
    return stream_.avail_in != 0;
  }

  /// Some bytes of content, at least one before its end.
  Index next(unsigned char* out, Index n) {
    stream_.next_out = out;
    stream_.avail_out = uInt(std::size_t(n) < most_at_once ? std::size_t(n) : most_at_once);
    while (stream_.next_out == out) {
      if (stream_.avail_in == 0 && !refill()) {
        if (!compressed_ || member_ended_) return 0;
        fail("gzip", {"'", path(), "': is truncated: its compressed data stop in the middle"});
      }
      if (compressed_) inflate_some();
      else copy_some();
    }
    return stream_.next_out - out;
  }

  void copy_some() {
    const uInt n = stream_.avail_in < stream_.avail_out ? stream_.avail_in : stream_.avail_out;
    std::memcpy(stream_.next_out, stream_.next_in, n);
    stream_.next_in += n;
    stream_.avail_in -= n;
    stream_.next_out += n;
  }

  [[gnu::noinline, gnu::cold]] void inflate_some() {
    if (member_ended_) {  // a gzip file may be several, one after the other
      inflateReset(&stream_);
      member_ended_ = false;
      first_member_ = false;
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    member_ended_ = status == Z_STREAM_END;
    if (status == Z_OK || status == Z_STREAM_END) return;
    if (!first_member_ && stream_.total_out == 0)
      fail("gzip", {"'", path(), "': other bytes follow the compressed data"});
    fail("gzip", {"'", path(), "': is corrupt: ", stream_.msg ? stream_.msg : "no progress"});
  }

  File file_;
  z_stream stream_{};
  Index content_ = 0;
  bool compressed_ = false, member_ended_ = false, first_member_ = true;
  unsigned char buffer_[1 << 16];
};

/// The content of a file, plain or gzip. Error where it is more than max_bytes.
[[gnu::noinline, gnu::cold]] inline std::string read_gzip(const std::string& path, Index max_bytes) {
  GzipReader reader(path);
  std::string content;
  char chunk[1 << 14];
  while (const Index got = reader.read_some(chunk, sizeof chunk)) {
    if (Index(content.size()) + got > max_bytes)
      fail("gzip", {"'", path, "': its content is larger than allowed: more than ", max_bytes, " bytes"});
    content.append(chunk, std::size_t(got));
  }
  return content;
}

}  // namespace tern::io
