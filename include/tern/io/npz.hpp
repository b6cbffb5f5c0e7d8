// Several arrays in one file, in numpy.savez's format: a zip archive (PKWARE's APPNOTE) of .npy files.
#pragma once
#include <zlib.h>

#include "npy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

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

/// The entries of an archive in memory. Refused are entries that share a name or bytes, or that are not those that the
/// archive's end counts.
class TERN_API ZipReader {
 public:
  ZipReader(const char* bytes, Index size, const std::string& path);
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// An entry's decompressed bytes. The checksum is verified.
  std::string read(const ZipEntry& entry) const;
  /// The first n of them, or all if there are no more. No checksum is verified.
  std::string head(const ZipEntry& entry, std::uint64_t n) const;
  static std::uint64_t checksum(const char* data, std::size_t n);

 private:
  [[noreturn, gnu::cold]] void refuse(const char* why) const { Error::fail("npz", {"'", path_, "': ", why}); }
  std::uint64_t number(std::uint64_t at, int count) const;
  /// The position of the archive's last record.
  std::uint64_t find_end() const;
  /// Returns the position of the next entry.
  std::uint64_t add_entry(std::uint64_t at);
  void widen(ZipEntry& entry, std::uint64_t field, std::uint64_t end) const;
  /// Checks an entry's own header and returns the position of its data.
  std::uint64_t data_of(const ZipEntry& entry) const;
  void check_entries(std::uint64_t directory) const;
  /// Fills `content` with an entry's first bytes. Error if the entry ends before, or, if content has its size, does not
  /// end there.
  void inflate_into(std::string& content, const char* from, const ZipEntry& entry) const;

  const char* bytes_;
  std::uint64_t size_;
  std::string path_;
  std::vector<ZipEntry> entries_;
};

}  // namespace detail

/// An open .npz file, from which arrays are loaded one by one, whatever the others are:
///
///   const io::Npz file("x.npz");
///   for (const std::string& name : file.names()) std::cout << name << ' ' << file.dtype(name) << '\n';
///   const auto images = file.load<float>("images");
///
/// Errors name the file, the array and the fault.
class TERN_API Npz {
 public:
  /// An array may have max_bytes; if it is negative, 8 times the file's size, and at least 1 GB.
  explicit Npz(const std::string& path, Index max_bytes = -1, CallSite here = {})
      : Npz(CallScope(here), path, max_bytes) {}
  Npz(const Npz&) = delete;
  Npz& operator=(const Npz&) = delete;

  /// The arrays' names, in the file's order.
  std::vector<std::string> names() const;
  /// The element type in the file: PyTorch's name, such as uint16; of one that cannot be read numpy's, such as <U5.
  std::string dtype(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return header(name).type_name;
  }
  tern::detail::Shape shape(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return header(name).shape;
  }

  /// An array, row-major, compressed or not. What tern has no type for becomes another as in load_npy.
  AnyTensor load(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return load(entry(name), nullptr);
  }
  /// The same as elements of type T, rounded to nearest if it is a floating-point type. Error if T does not hold a
  /// number.
  template <Element T>
  Tensor<Cpu, T> load(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    constexpr DType to = dtype_of<T>;
    return load(entry(name), &to).template as<Cpu, T>();
  }

 private:
  Npz(const CallScope&, const std::string& path, Index max_bytes);

  friend StateDict load_npz(const std::string& path, Index max_bytes, CallSite here);

  /// Not of what a Mac's archiver adds.
  static bool is_array(const detail::ZipEntry& entry) {
    return entry.name.ends_with(".npy") && !entry.name.starts_with("__MACOSX/");
  }
  static std::string array_name(const detail::ZipEntry& entry) { return entry.name.substr(0, entry.name.size() - 4); }
  std::string subject(const std::string& name) const { return tern::detail::text({path_, ":", name}); }
  const detail::ZipEntry& entry(const std::string& name) const;
  detail::NpyHeader header(const std::string& name) const;
  AnyTensor load(const detail::ZipEntry& entry, const DType* to) const;

  std::string path_;
  MappedFile file_;
  detail::ZipReader archive_;
  Index most_;
};

/// Writes tensors in host memory as numpy.savez does. The file appears complete or not at all. Error if a name occurs
/// twice, or if the file would have 4 GiB or more; save_safetensors has no such limit.
TERN_API void save_npz(const std::string& path, const StateDict& tensors, CallSite here = {});

/// All arrays of a .npz file by name, as Npz loads each. Error that names the file and the fault. The arrays may have
/// max_bytes together; if it is negative, 8 times the file's size, and at least 1 GB.
TERN_API StateDict load_npz(const std::string& path, Index max_bytes = -1, CallSite here = {});

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "npz.ipp"
#endif
