// What calls into CUDA's libraries return: an Error at once, or, from a release, which has no caller to throw to, an Error from the
// next call.
#pragma once
#include <atomic>

#include "library.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// The driver's own words for a status.
struct StatusText {
  const char *name = "unknown status", *text = "";
  explicit StatusText(Status status) {
    driver().functions.cuGetErrorName(status, &name);
    driver().functions.cuGetErrorString(status, &text);
  }
};

/// The last failure that nobody has been told of yet. The texts are the libraries' own, which stay.
struct LateFailure {
  std::mutex mutex;
  std::atomic<bool> any{false};
  const char *function, *name, *text;
};
extern TERN_API constinit LateFailure late_failure;

TERN_API void note_failure(const char* function, const char* name, const char* text);
TERN_API void note_failure(const char* function, Status status);

TERN_API void throw_late_failure();
/// Error if an earlier release has failed. It is thrown once.
inline void check_late_failure() {
  if (late_failure.any.load(std::memory_order_relaxed)) [[unlikely]] throw_late_failure();
}

}  // namespace detail

/// Error naming the driver's function and its own text for the status.
[[noreturn]] TERN_API void refuse(const char* function, Status status);

/// Calls a function of the driver; Error if it fails.
#define TERN_CUDA(function, ...)                                                                    \
  do {                                                                                              \
    if (const ::tern::cuda::Status tern_status = ::tern::cuda::driver().functions.function(__VA_ARGS__)) \
      ::tern::cuda::refuse(#function, tern_status);                                                 \
  } while (false)

/// Calls a function of the driver that releases something; if it fails, the next call is an Error.
#define TERN_CUDA_RELEASE(function, ...)                                                            \
  do {                                                                                              \
    if (const ::tern::cuda::Status tern_status = ::tern::cuda::driver().functions.function(__VA_ARGS__)) \
      ::tern::cuda::detail::note_failure(#function, tern_status);                                   \
  } while (false)

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "status.ipp"
#endif
