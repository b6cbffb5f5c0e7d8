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
  std::uint64_t method, crc, packed, size,
      at;  // how it is packed; bytes in the archive and unpacked; where its header is
};

/// The entries of an archive in memory.
class TERN_API ZipReader {
 public:
  ZipReader(const char* bytes, Index size, const std::string& path);
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// An entry's decompressed bytes. The checksum is verified.
  std::string read(const ZipEntry& entry) const;
  static std::uint64_t checksum(const char* data, std::size_t n);

 private:
  [[noreturn, gnu::cold]] void refuse(const char* why) const { fail("npz", {"'", path_, "': ", why}); }
  std::uint64_t number(std::uint64_t at, int count) const;
  /// Returns the position of the next entry.
  std::uint64_t add_entry(std::uint64_t at);
  void inflate_into(std::string& content, const char* from, std::uint64_t packed) const;

  const char* bytes_;
  std::uint64_t size_;
  std::string path_;
  std::vector<ZipEntry> entries_;
};

}  // namespace detail

/// Writes tensors in host memory as numpy.savez does. The file appears complete or not at all. Error if it would have 4
/// GiB or more; save_safetensors has no such limit.
TERN_API void save_npz(const std::string& path, const StateDict& tensors);

/// The arrays of a .npz file by name, compressed or not. Error that names the file and the fault.
TERN_API StateDict load_npz(const std::string& path);

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "npz.ipp"
#endif
