// Compiles a kernel's source for one chip with NVRTC.
#pragma once
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

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// Compiles kernels with information on their lines, and keeps their sources in the folder of compiled kernels, for
/// profilers: NVRTC's --generate-line-info. For kernels that have not run yet. Off by default.
inline void generate_line_info(bool on) { detail::line_info = on; }

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "compiler.ipp"
#endif
