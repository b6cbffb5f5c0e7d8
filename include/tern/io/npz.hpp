// Several arrays in one file, in numpy.savez's format: a zip archive (PKWARE's APPNOTE) of .npy files.
#pragma once
#include <zlib.h>

#include "npy.hpp"

namespace tern::inline TERN_BUILD::io {

namespace detail {

/// Appends a number, lowest byte first.
inline void put_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += char(value >> (8 * i) & 255);
}

struct ZipEntry {
  std::string name;
  std::uint64_t flags, method, crc, packed, size,
      at;  // how it is packed; bytes in the archive and unpacked; where its header is
};

/// A name that occurs twice; null if there is none.
TERN_API const std::string* second_of(std::vector<const std::string*> names);

/// The entries of an archive in memory. Refused are entries that share a name or bytes, that are encrypted, or that are
/// not those that the archive's end counts.
class TERN_API ZipReader {
 public:
  /// Error if the entries unpacked have more bytes than most_content() allows.
  ZipReader(const char* bytes, Index size, const std::string& path, Index max_bytes);
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// An entry's decompressed bytes. The checksum is verified.
  std::string read(const ZipEntry& entry) const;
  static std::uint64_t checksum(const char* data, std::size_t n);

 private:
  [[noreturn, gnu::cold]] void refuse(const char* why) const { fail("npz", {"'", path_, "': ", why}); }
  std::uint64_t number(std::uint64_t at, int count) const;
  /// The position of the archive's last record.
  std::uint64_t find_end() const;
  /// Returns the position of the next entry.
  std::uint64_t add_entry(std::uint64_t at);
  void widen(ZipEntry& entry, std::uint64_t field, std::uint64_t end) const;
  /// Checks an entry's own header and returns the position of its data.
  std::uint64_t data_of(const ZipEntry& entry) const;
  void check_entries(std::uint64_t directory, Index max_bytes) const;
  void inflate_into(std::string& content, const char* from, std::uint64_t packed) const;

  const char* bytes_;
  std::uint64_t size_;
  std::string path_;
  std::vector<ZipEntry> entries_;
};

}  // namespace detail

/// Writes tensors in host memory as numpy.savez does. The file appears complete or not at all. Error if a name occurs
/// twice, or if the file would have 4 GiB or more; save_safetensors has no such limit.
TERN_API void save_npz(const std::string& path, const StateDict& tensors);

/// The arrays of a .npz file by name, compressed or not. Error that names the file and the fault. The arrays may have
/// max_bytes together; if it is negative, 8 times the file's size, and at least 1 GB.
TERN_API StateDict load_npz(const std::string& path, Index max_bytes = -1);

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "npz.ipp"
#endif
