// What the emulated NVRTC gives as "cubin" or "PTX", and cuModuleLoadData takes: this header, then a shared library for
// the host. Both check it, so that a damaged file is an invalid image and not a crash.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

namespace emulator {

struct ImageHeader {
  char magic[8] = {'T', 'E', 'R', 'N', 'E', 'M', 'U', '1'};
  std::uint16_t architecture = 0;  // 90: compute capability 9.0
  std::uint16_t cuda = 0;          // the major version of the compiler
  std::uint32_t is_ptx = 0;        // runs on later architectures too
  std::uint64_t bytes = 0;         // of the library
  std::uint64_t library_hash = 0, header_hash = 0;
};

/// FNV-1a.
inline std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  return hash;
}

inline std::uint64_t hash_of_header(ImageHeader header) {
  header.header_hash = 0;
  return hash_bytes(&header, sizeof header);
}

inline std::string make_image(int cuda, int architecture, bool is_ptx, const std::string& library) {
  ImageHeader header;
  header.architecture = static_cast<std::uint16_t>(architecture);
  header.cuda = static_cast<std::uint16_t>(cuda);
  header.is_ptx = is_ptx;
  header.bytes = library.size();
  header.library_hash = hash_bytes(library.data(), library.size());
  header.header_hash = hash_of_header(header);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + library;
}

/// True if `image` is one; then header and library are set.
inline bool read_image(const void* image, ImageHeader& header, std::string& library) {
  if (std::memcmp(image, ImageHeader{}.magic, sizeof header.magic)) return false;
  std::memcpy(&header, image, sizeof header);
  if (header.header_hash != hash_of_header(header)) return false;
  const char* begin = static_cast<const char*>(image) + sizeof header;
  if (header.library_hash != hash_bytes(begin, header.bytes)) return false;
  library.assign(begin, header.bytes);
  return true;
}

}  // namespace emulator
