// The functions of npz.hpp that are not templates.
#pragma once
#include "npz.hpp"

namespace tern::inline TERN_BUILD::io::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE ZipReader::ZipReader(const char* bytes, Index size, const std::string& path)
    : bytes_(bytes), size_(std::uint64_t(size)), path_(path) {
  std::uint64_t end = size_ < 22 ? 0 : size_ - 22;
  while (end > 0 && number(end, 4) != 0x06054b50) --end;
  if (size_ < 22 || number(end, 4) != 0x06054b50) refuse("it is not a zip archive");
  std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
  if (at == 0xffffffff || count == 0xffff) {  // a larger archive has another end record before this one
    const std::uint64_t wide = end >= 20 ? number(end - 20 + 8, 8) : size_;
    if (number(wide, 4) != 0x06064b50) refuse("its end is corrupt");
    count = number(wide + 32, 8), at = number(wide + 48, 8);
  }
  for (; count > 0; --count) at = add_entry(at);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string ZipReader::read(const ZipEntry& entry) const {
  if (number(entry.at, 4) != 0x04034b50) refuse("an entry's header is corrupt");
  const std::uint64_t data = entry.at + 30 + number(entry.at + 26, 2) + number(entry.at + 28, 2);
  if (data > size_ || entry.packed > size_ - data) refuse("an entry is truncated");
  if (entry.method != 0 && entry.method != 8) refuse("an entry has an unknown compression method");
  if (entry.method == 0 && entry.packed != entry.size) refuse("an entry's size is corrupt");
  if (entry.size > 1100 * entry.packed + 64)
    refuse("an entry claims more than it can hold");  // deflate's limit is 1032
  std::string content(entry.size, '\0');
  if (entry.method == 0)
    std::memcpy(content.data(), bytes_ + data, entry.size);
  else
    inflate_into(content, bytes_ + data, entry.packed);
  if (checksum(content.data(), content.size()) != entry.crc) refuse("an entry's checksum does not match");
  return content;
}

TERN_INLINE std::uint64_t ZipReader::checksum(const char* data, std::size_t n) {
  uLong crc = crc32(0, nullptr, 0);
  for (std::size_t i = 0; i < n; i += 1u << 30)
    crc = crc32(crc, reinterpret_cast<const Bytef*>(data + i), uInt(n - i < 1u << 30 ? n - i : 1u << 30));
  return crc;
}

TERN_INLINE std::uint64_t ZipReader::number(std::uint64_t at, int count) const {
  if (at > size_ || std::uint64_t(count) > size_ - at) refuse("is truncated");
  std::uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + std::uint64_t(i)]);
  return value;
}

TERN_INLINE std::uint64_t ZipReader::add_entry(std::uint64_t at) {
  if (number(at, 4) != 0x02014b50) refuse("its directory is corrupt");
  ZipEntry entry{
      {}, number(at + 10, 2), number(at + 16, 4), number(at + 20, 4), number(at + 24, 4), number(at + 42, 4)};
  const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
  const std::uint64_t next = at + 46 + name + extra + comment;
  if (next > size_) refuse("its directory is truncated");
  entry.name.assign(bytes_ + at + 46, name);
  // Numbers that do not fit are in a field of their own, in this order.
  for (std::uint64_t field = at + 46 + name, end = field + extra; field + 4 <= end;
       field += 4 + number(field + 2, 2)) {
    if (number(field, 2) != 1) continue;
    std::uint64_t wide = field + 4;
    for (std::uint64_t* const value : {&entry.size, &entry.packed, &entry.at})
      if (*value == 0xffffffff) *value = number(wide, 8), wide += 8;
  }
  entries_.push_back(std::move(entry));
  return next;
}

TERN_INLINE void ZipReader::inflate_into(std::string& content, const char* from, std::uint64_t packed) const {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) refuse("zlib cannot start");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } const end{&stream};
  int status = Z_OK;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  std::uint64_t in = packed, out = content.size();
  while (status == Z_OK) {
    const uInt offered = uInt(in < 1u << 30 ? in : 1u << 30), room = uInt(out < 1u << 30 ? out : 1u << 30);
    stream.avail_in = offered, stream.avail_out = room;
    status = inflate(&stream, Z_NO_FLUSH);
    in -= offered - stream.avail_in, out -= room - stream.avail_out;
    if (status == Z_OK && offered == stream.avail_in && room == stream.avail_out) break;
  }
  if (status != Z_STREAM_END || out != 0) refuse("an entry is corrupt");
}

}  // namespace tern::io::detail

namespace tern::inline TERN_BUILD::io {

[[gnu::noinline, gnu::cold]] TERN_INLINE void save_npz(const std::string& path, const StateDict& tensors) {
  AtomicFile file(path);
  std::string directory;
  std::uint64_t at = 0;
  for (const NamedTensor& named : tensors) {
    const AnyTensor dense = detail::dense_on_host("save_npz", named.tensor);
    std::string content = detail::npy_head("save_npz", dense.dtype(), dense.shape());
    content.append(dense.impl()->data, std::size_t(dense.numel() * size_of(dense.dtype())));
    const std::string name = named.name + ".npy";
    std::string common;                         // the part that an entry's own header and the directory share
    detail::put_number(common, 20, 2);          // the version needed to read it
    detail::put_number(common, 1 << 11, 2);     // the name is UTF-8
    detail::put_number(common, 0, 2);           // stored without compression
    detail::put_number(common, 0x00210000, 4);  // 1980-01-01, the earliest date of the format
    detail::put_number(common, detail::ZipReader::checksum(content.data(), content.size()), 4);
    detail::put_number(common, content.size(), 4);
    detail::put_number(common, content.size(), 4);
    detail::put_number(common, name.size(), 2);
    detail::put_number(common, 0, 2);
    std::string head("PK\3\4", 4);
    head += common + name;
    directory += std::string("PK\1\2\x14\0", 6) + common + std::string(10, '\0');
    detail::put_number(directory, at, 4);
    directory += name;
    at += head.size() + content.size();
    if (at + directory.size() + 22 > 0xffffffff || name.size() > 0xffff || tensors.size() > 0xfffe)
      fail("save_npz", {"'", path, "': too much for such an archive; use save_safetensors"});
    file.write(head.data(), Index(head.size()));
    file.write(content.data(), Index(content.size()));
  }
  std::string end("PK\5\6\0\0\0\0", 8);
  detail::put_number(end, tensors.size(), 2);
  detail::put_number(end, tensors.size(), 2);
  detail::put_number(end, directory.size(), 4);
  detail::put_number(end, at, 4);
  detail::put_number(end, 0, 2);
  file.write(directory.data(), Index(directory.size()));
  file.write(end.data(), Index(end.size()));
  file.commit();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE StateDict load_npz(const std::string& path) {
  const MappedFile file(path);
  const detail::ZipReader archive(file.data(), file.size(), path);
  StateDict tensors;
  for (const detail::ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(".npy")) continue;
    const std::string content = archive.read(entry);
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    tensors.push_back({name, detail::npy_tensor(content.data(), Index(content.size()), path + ":" + name)});
  }
  return tensors;
}

}  // namespace tern::io
