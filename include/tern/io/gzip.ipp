// The functions of gzip.hpp that are not templates.
#pragma once
#include "gzip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD GzipReader::GzipReader(const CallScope&, const std::string& path, Index max_bytes)
    : file_(path), most_(most_content(file_.size(), max_bytes)) {
  refill();
  compressed_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
  if (!compressed_ && path.ends_with(".gz"))
    Error::fail("gzip", {"'", path, "': is not gzip: it does not begin with 1f 8b"});
  if (compressed_ && inflateInit2(&stream_, gzip_window_bits) != Z_OK)
    Error::fail("gzip", {"'", path, "': zlib cannot start: ", stream_.msg ? stream_.msg : "no memory"});
}

TERN_COLD Index GzipReader::read_some(void* out, Index n) {
  Index done = 0;
  while (done < n) {
    const Index got = next(static_cast<unsigned char*>(out) + done, n - done);
    if (got == 0) break;
    done += got;
  }
  content_ += done;
  if (content_ > most_)
    Error::fail("gzip", {"'", path(), "': its content is larger than allowed: more than ", most_, " bytes"});
  return done;
}

TERN_COLD void GzipReader::read(void* out, Index n) {
  const Index got = read_some(out, n);
  if (got < n)
    Error::fail("gzip", {"'", path(), "': is truncated: its content ends after ", content_, " bytes, ", n - got,
                         " are missing"});
}

TERN_COLD void GzipReader::expect_end() {
  char extra;
  const Index expected = content_;
  if (read_some(&extra, 1) != 0)
    Error::fail("gzip", {"'", path(), "': holds more than the ", expected, " bytes expected"});
}

TERN_INLINE Index GzipReader::next(unsigned char* out, Index n) {
  stream_.next_out = out;
  stream_.avail_out = uInt(std::size_t(n) < most_at_once ? std::size_t(n) : most_at_once);
  while (stream_.next_out == out) {
    if (stream_.avail_in == 0 && !refill()) {
      if (!compressed_ || member_ended_) return 0;
      Error::fail("gzip", {"'", path(), "': is truncated: its compressed data stop in the middle"});
    }
    if (compressed_) inflate_some();
    else copy_some();
  }
  return stream_.next_out - out;
}

TERN_INLINE void GzipReader::copy_some() {
  const uInt n = stream_.avail_in < stream_.avail_out ? stream_.avail_in : stream_.avail_out;
  std::memcpy(stream_.next_out, stream_.next_in, n);
  stream_.next_in += n;
  stream_.avail_in -= n;
  stream_.next_out += n;
}

TERN_COLD void GzipReader::inflate_some() {
  if (member_ended_) {  // a gzip file may have several members
    inflateReset(&stream_);
    member_ended_ = false;
    first_member_ = false;
  }
  const int status = inflate(&stream_, Z_NO_FLUSH);
  member_ended_ = status == Z_STREAM_END;
  if (status == Z_OK || status == Z_STREAM_END) return;
  if (!first_member_ && stream_.total_out == 0)
    Error::fail("gzip", {"'", path(), "': other bytes follow the compressed data"});
  Error::fail("gzip", {"'", path(), "': is corrupt: ", stream_.msg ? stream_.msg : "no progress"});
}

TERN_COLD std::string read_gzip(const std::string& path, Index max_bytes, CallSite here) {
  const CallScope scope(here);
  GzipReader reader(path, max_bytes);
  return tern::detail::within_memory("gzip", path.c_str(), [&] {
    std::string content;
    content.reserve(std::size_t(reader.file_size() < reader.most() ? reader.file_size() : reader.most()));
    char chunk[1 << 14];
    while (const Index got = reader.read_some(chunk, sizeof chunk)) content.append(chunk, std::size_t(got));
    return content;
  });
}

TERN_COLD void refuse_utf16(const char* op, const std::string& path, std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    Error::fail(op, {"'", path, "': is in UTF-16; save it as UTF-8"});
}

TERN_COLD std::string read_text(const char* op, const std::string& path, Index max_bytes) {
  std::string text = read_gzip(path, max_bytes);
  refuse_utf16(op, path, text);
  if (begins_with_mark(text)) text.erase(0, 3);
  return text;
}

}}}  // namespace tern::io
