// Checks the status codes of CUDA's libraries. A failure is an Error at once. A failed release has no caller to throw
// to, so the next call throws.
#pragma once
#include <atomic>

#include "library.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {

/// The driver's own words for a status.
struct StatusText {
  const char *name = "unknown status", *text = "";
  explicit StatusText(DriverStatus status) {
    driver().functions.cuGetErrorName(status, &name);
    driver().functions.cuGetErrorString(status, &text);
  }
};

/// The last failure that has not been thrown yet. The texts belong to the libraries and stay valid.
struct LateFailure {
  std::mutex mutex;
  std::atomic<bool> any{false};
  const char *function, *name, *text;
};
extern TERN_API constinit LateFailure late_failure;

TERN_API void note_failure(const char* function, const char* name, const char* text);
TERN_API void note_failure(const char* function, DriverStatus status);

TERN_API void throw_late_failure();
/// Throws an Error, once, if an earlier release has failed.
inline void check_late_failure() {
  if (late_failure.any.load(std::memory_order_relaxed)) [[unlikely]]
    throw_late_failure();
}

}  // namespace detail

/// Error that names the driver's function and quotes its text for the status.
[[noreturn]] TERN_API void refuse(const char* function, DriverStatus status);

/// Calls a function of the driver. Error if it fails.
#define TERN_CUDA(function, ...)                                                                               \
  do {                                                                                                         \
    if (const ::tern::cuda::DriverStatus tern_status = ::tern::cuda::driver().functions.function(__VA_ARGS__)) \
      ::tern::cuda::refuse(#function, tern_status);                                                            \
  } while (false)

/// Calls a function of the driver that releases a resource. If it fails, the next call throws.
#define TERN_CUDA_RELEASE(function, ...)                                                                       \
  do {                                                                                                         \
    if (const ::tern::cuda::DriverStatus tern_status = ::tern::cuda::driver().functions.function(__VA_ARGS__)) \
      ::tern::cuda::detail::note_failure(#function, tern_status);                                              \
  } while (false)

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "status.ipp"
#endif
