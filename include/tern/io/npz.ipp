// The functions of npz.hpp that are not templates.
#pragma once
#include "file_kind.hpp"
#include "npz.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

TERN_COLD const std::string* second_of(std::vector<const std::string*> names) {
  if (names.empty()) return nullptr;
  std::qsort(names.data(), names.size(), sizeof names[0], [](const void* a, const void* b) {
    return (*static_cast<const std::string* const*>(a))->compare(**static_cast<const std::string* const*>(b));
  });
  for (std::size_t i = 1; i < names.size(); ++i)
    if (*names[i] == *names[i - 1]) return names[i];
  return nullptr;
}

TERN_COLD ZipReader::ZipReader(const char* bytes, Index size, const std::string& path)
    : bytes_(bytes), size_(std::uint64_t(size)), path_(path) {
  std::uint64_t end = find_end();
  std::uint64_t on_disk = number(end + 8, 2), count = number(end + 10, 2), length = number(end + 12, 4),
                at = number(end + 16, 4);
  if (at == 0xffffffff || count == 0xffff) {  // a larger archive has another end record before this one
    end = end >= 20 && number(end - 20, 4) == 0x07064b50 ? number(end - 20 + 8, 8) : size_;
    if (number(end, 4) != 0x06064b50) refuse("its end is corrupt");
    on_disk = number(end + 24, 8), count = number(end + 32, 8), length = number(end + 40, 8), at = number(end + 48, 8);
  }
  if (at > end || length != end - at || on_disk != count) refuse("its end does not match its directory");
  const std::uint64_t directory = at;
  while (at < end) at = add_entry(at);
  if (at != end || entries_.size() != count) refuse("its directory does not have the entries that its end counts");
  check_entries(directory);
}

TERN_INLINE std::uint64_t ZipReader::find_end() const {
  constexpr std::uint64_t record = 22, longest_comment = 0xffff;
  for (std::uint64_t comment = 0; comment <= longest_comment && record + comment <= size_; ++comment) {
    const std::uint64_t at = size_ - record - comment;
    if (number(at, 4) == 0x06054b50 && number(at + 20, 2) == comment) return at;
  }
  if (size_ >= 4 && number(0, 4) == 0x04034b50) refuse("is truncated: the end of the zip archive is missing");
  refuse(("it is not a zip archive" + but_of_kind({bytes_, std::size_t(size_)})).c_str());
}

TERN_INLINE std::uint64_t ZipReader::data_of(const ZipEntry& entry) const {
  if (number(entry.at, 4) != 0x04034b50) refuse("an entry's header is corrupt");
  const std::uint64_t name = number(entry.at + 26, 2), data = entry.at + 30 + name + number(entry.at + 28, 2);
  if (data > size_ || entry.packed > size_ - data) refuse("an entry is truncated");
  if (name != entry.name.size() || std::memcmp(bytes_ + entry.at + 30, entry.name.data(), name) != 0)
    refuse("an entry has another name in the directory");
  return data;
}

TERN_COLD void ZipReader::check_entries(std::uint64_t directory) const {
  std::vector<const std::string*> names;
  std::vector<const ZipEntry*> order;
  for (const ZipEntry& entry : entries_) {
    names.push_back(&entry.name);
    order.push_back(&entry);
  }
  if (const std::string* const name = second_of(names))
    Error::fail("npz", {"'", path_, "': names '", *name, "' twice"});
  if (order.empty()) return;
  std::qsort(order.data(), order.size(), sizeof order[0], [](const void* a, const void* b) {
    const std::uint64_t x = (*static_cast<const ZipEntry* const*>(a))->at,
                        y = (*static_cast<const ZipEntry* const*>(b))->at;
    return (x > y) - (x < y);
  });
  std::uint64_t filled = 0;
  for (const ZipEntry* const entry : order) {
    if (entry->at < filled) refuse("two entries share bytes");
    filled = data_of(*entry) + entry->packed;
  }
  if (filled > directory) refuse("an entry and the directory share bytes");
}

TERN_COLD std::string ZipReader::head(const ZipEntry& entry, std::uint64_t n) const {
  constexpr std::uint64_t encrypted = 1 << 0, patched = 1 << 5, strongly_encrypted = 1 << 6;
  if (entry.flags & (encrypted | patched | strongly_encrypted)) refuse("an entry is encrypted or a patch");
  const std::uint64_t data = data_of(entry);
  if (entry.method != 0 && entry.method != 8) refuse("an entry has an unknown compression method");
  if (entry.method == 0 && entry.packed != entry.size) refuse("an entry's size is corrupt");
  if (entry.size > 1100 * entry.packed + 64)
    refuse("an entry claims more than it can hold");  // deflate's limit is 1032
  std::string content(entry.size < n ? entry.size : n, '\0');
  if (entry.method == 0) std::memcpy(content.data(), bytes_ + data, content.size());
  else inflate_into(content, bytes_ + data, entry);
  return content;
}

TERN_COLD std::string ZipReader::read(const ZipEntry& entry) const {
  std::string content = head(entry, entry.size);
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
  constexpr std::uint64_t newest_version = 63;  // of the format, that numpy reads
  if (number(at + 6, 2) > newest_version) refuse("an entry is of an unknown version");
  ZipEntry entry{{},
                 number(at + 8, 2),
                 number(at + 10, 2),
                 number(at + 16, 4),
                 number(at + 20, 4),
                 number(at + 24, 4),
                 number(at + 42, 4)};
  const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
  const std::uint64_t next = at + 46 + name + extra + comment;
  if (next > size_) refuse("its directory is truncated");
  entry.name.assign(bytes_ + at + 46, name);
  widen(entry, at + 46 + name, at + 46 + name + extra);
  entries_.push_back(std::move(entry));
  return next;
}

TERN_INLINE void ZipReader::widen(ZipEntry& entry, std::uint64_t field, std::uint64_t end) const {
  while (field + 4 <= end) {
    const std::uint64_t kind = number(field, 2), next = field + 4 + number(field + 2, 2);
    if (next > end) refuse("its directory is corrupt");
    std::uint64_t wide = field + 4;
    // Numbers that do not fit are in a field of their own, in this order.
    for (std::uint64_t* const value : {&entry.size, &entry.packed, &entry.at}) {
      if (kind != 1 || *value != 0xffffffff) continue;
      if (wide + 8 > next) refuse("its directory is corrupt");
      *value = number(wide, 8), wide += 8;
    }
    field = next;
  }
}

TERN_INLINE void ZipReader::inflate_into(std::string& content, const char* from, const ZipEntry& entry) const {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) refuse("zlib cannot start");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } const end{&stream};
  int status = Z_OK;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  const bool is_whole = content.size() == entry.size;
  std::uint64_t in = entry.packed, out = content.size();
  while (status == Z_OK && (is_whole || out > 0)) {
    const uInt offered = uInt(in < 1u << 30 ? in : 1u << 30), capacity = uInt(out < 1u << 30 ? out : 1u << 30);
    stream.avail_in = offered, stream.avail_out = capacity;
    status = inflate(&stream, Z_NO_FLUSH);
    in -= offered - stream.avail_in, out -= capacity - stream.avail_out;
    if (status == Z_OK && offered == stream.avail_in && capacity == stream.avail_out) break;
  }
  if ((is_whole && status != Z_STREAM_END) || out != 0) refuse("an entry is corrupt");
}

}}}  // namespace tern::io::detail

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void save_npz(const std::string& path, const StateDict& tensors, CallSite here) {
  const CallScope scope(here);
  std::vector<const std::string*> names;
  for (const NamedTensor& named : tensors) names.push_back(&named.name);
  if (const std::string* const name = detail::second_of(names))
    Error::fail("save_npz", {"'", path, "': '", *name, "' occurs twice"});
  AtomicFile file(path);
  std::string directory;
  std::uint64_t at = 0;
  for (const NamedTensor& named : tensors) {
    const AnyTensor dense = detail::dense_on_host("save_npz", named.tensor);
    std::string content = detail::npy_head("save_npz", dense.dtype(), dense.shape());
    content.append(dense.impl()->data, std::size_t(dense.numel() * tern::detail::size_of(dense.dtype())));
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
      Error::fail("save_npz", {"'", path, "': too much for such an archive; use save_safetensors"});
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

TERN_COLD Npz::Npz(const CallScope&, const std::string& path, Index max_bytes)
    : path_(path), file_(path), archive_(file_.data(), file_.size(), path),
      most_(most_content(file_.size(), max_bytes)) {}

TERN_COLD std::vector<std::string> Npz::names() const {
  std::vector<std::string> names;
  for (const detail::ZipEntry& entry : archive_.entries())
    if (is_array(entry)) names.push_back(array_name(entry));
  return names;
}

TERN_COLD const detail::ZipEntry& Npz::entry(const std::string& name) const {
  for (const detail::ZipEntry& entry : archive_.entries())
    if (is_array(entry) && array_name(entry) == name) return entry;
  Error::fail("npz", {"'", path_, "': has no array '", name, "'"});
}

TERN_COLD detail::NpyHeader Npz::header(const std::string& name) const {
  constexpr std::uint64_t enough = 12 + 10'000;  // for the longest header that is read
  const detail::ZipEntry& entry = this->entry(name);
  const std::string head = archive_.head(entry, enough);
  return {head.data(), Index(head.size()), Index(entry.size), subject(name)};
}

TERN_COLD AnyTensor Npz::load(const detail::ZipEntry& entry, const DType* to) const {
  const std::string name = subject(array_name(entry));
  if (entry.size > std::uint64_t(most_))
    Error::fail("npz", {"'", name, "': is larger than allowed: more than ", most_, " bytes"});
  return tern::detail::within_memory("npz", name.c_str(), [&] {
    const std::string content = archive_.read(entry);
    return detail::npy_tensor(content.data(), Index(content.size()), name, to);
  });
}

TERN_COLD StateDict load_npz(const std::string& path, Index max_bytes, CallSite here) {
  const CallScope scope(here);
  const Npz file(path, max_bytes);
  std::uint64_t left = std::uint64_t(file.most_);
  StateDict tensors;
  for (const detail::ZipEntry& entry : file.archive_.entries()) {
    if (!Npz::is_array(entry)) continue;
    if (entry.size > left)
      Error::fail("npz", {"'", path, "': its arrays are larger than allowed: more than ", file.most_, " bytes"});
    left -= entry.size;
    tensors.push_back({Npz::array_name(entry), file.load(entry, nullptr)});
  }
  return tensors;
}

}}}  // namespace tern::io
