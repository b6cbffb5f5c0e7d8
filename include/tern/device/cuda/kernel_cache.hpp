// Compiled kernels on disk, keyed by source, chip and compiler. A hit does not load NVRTC: which compiler there is, is noted in a file
// of its own with the library's size and date, and looked up again when those, or where libraries are looked for, have changed.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "compiler.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// FNV-1a, 64 bits.
inline std::uint64_t hash_text(const std::string& text, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const char c : text) hash = (hash ^ std::uint8_t(c)) * 0x100000001B3u;
  return hash;
}

/// The folder of cached kernels, made if need be; empty if there is none to be had.
TERN_API std::string kernel_folder();

/// A whole file; empty if it cannot be read.
TERN_API std::string read_file(const std::string& path);

/// Writes a file so that other processes see all of it or none. That it fails costs a compilation later, nothing else.
TERN_API void write_file(const std::string& path, const std::string& bytes);

/// NVRTC's version, as "13.0".
TERN_API std::string compiler_version(const std::string& folder);

/// The kernel's image for a chip: from the cache, else compiled and put there.
TERN_API std::string kernel_image(const std::string& source, int major, int minor);

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "kernel_cache.ipp"
#endif
