// Compiles a kernel's source for one chip with NVRTC, and keeps the results on disk, keyed by source, chip and
// compiler. A hit does not load NVRTC. A file of its own stores the
// compiler's version, with the library's size and date. The version is determined again if those have changed, the
// driver, or the folders where libraries are looked for.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// Error that names NVRTC's function and quotes the library's own text for the status.
TERN_API void check_nvrtc(const char* function, int status);

#define TERN_NVRTC(function, ...) \
  ::tern::cuda::detail::check_nvrtc(#function, ::tern::cuda::nvrtc().functions.function(__VA_ARGS__))

extern TERN_API constinit std::atomic<bool> line_info;

/// Compiles for compute capability major.minor. With a path, the binary says which lines of that file it is made of. If
/// the chip is newer than the compiler, it compiles to PTX of the newest architecture that the compiler knows, and the
/// driver translates that. Error with the compiler's log.
TERN_API std::string compile(const std::string& source, int major, int minor, const std::string& path = {});

/// FNV-1a, 64 bits.
inline std::uint64_t hash_text(const std::string& text, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const char c : text) hash = (hash ^ std::uint8_t(c)) * 0x100000001B3u;
  return hash;
}

/// The folder of cached kernels, which is made if necessary; empty if it cannot be made.
TERN_API std::string kernel_folder();

/// The content of a file; empty if it cannot be read.
TERN_API std::string read_file(const std::string& path);

/// Writes a file so that other processes see either all of it or nothing. A failure is ignored, as it only costs a
/// compilation later.
TERN_API void write_file(const std::string& path, const std::string& bytes);

/// NVRTC's version, as "13.0".
TERN_API std::string compiler_version(const std::string& folder);

/// The kernel's binary for a chip, from the cache. If it is not there, it is compiled and stored.
TERN_API std::string kernel_image(const std::string& source, int major, int minor);

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// Compiles kernels with information on their lines, and keeps their sources in the folder of compiled kernels, for
/// profilers: NVRTC's --generate-line-info. For kernels that have not run yet. Off by default.
inline void generate_line_info(bool on) { detail::line_info = on; }

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "kernel_cache.ipp"
#endif
