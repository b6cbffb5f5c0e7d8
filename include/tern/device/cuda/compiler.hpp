// Compiles a kernel's source for one chip with NVRTC.
#pragma once
#include "context.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// Error that names NVRTC's function and quotes the library's own text for the status.
TERN_API void check_nvrtc(const char* function, int status);

#define TERN_NVRTC(function, ...) \
  ::tern::cuda::detail::check_nvrtc(#function, ::tern::cuda::nvrtc().functions.function(__VA_ARGS__))

/// Compiles for compute capability major.minor. If the chip is newer than the compiler, it compiles to PTX of the
/// newest architecture that the compiler knows, and the driver translates that. Error with the compiler's log.
TERN_API std::string compile(const std::string& source, int major, int minor);

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "compiler.ipp"
#endif
