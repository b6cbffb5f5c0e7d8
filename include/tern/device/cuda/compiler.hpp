// From a kernel's source to code for one chip, by NVRTC.
#pragma once
#include "context.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// Error naming NVRTC's function and its own text for the status.
TERN_API void check_nvrtc(const char* function, int status);

#define TERN_NVRTC(function, ...) \
  ::tern::cuda::detail::check_nvrtc(#function, ::tern::cuda::nvrtc().functions.function(__VA_ARGS__))

/// Compiles for compute capability major.minor; for a chip newer than the compiler, to PTX of the newest architecture that it knows,
/// which the driver translates. Error with the compiler's log.
TERN_API std::string compile(const std::string& source, int major, int minor);

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "compiler.ipp"
#endif
