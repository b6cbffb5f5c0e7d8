// The functions of status.hpp that are not templates.
#pragma once
#include "status.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

TERN_INLINE constinit LateFailure late_failure{};

[[gnu::noinline, gnu::cold]] TERN_INLINE void note_failure(const char* function, const char* name, const char* text) {
  const std::lock_guard lock(late_failure.mutex);
  late_failure.function = function, late_failure.name = name, late_failure.text = text;
  late_failure.any = true;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void note_failure(const char* function, DriverStatus status) {
  const StatusText why(status);
  note_failure(function, why.name, why.text);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void throw_late_failure() {
  const std::lock_guard lock(late_failure.mutex);
  if (!late_failure.any.exchange(false)) return;  // another thread has thrown it
  const char* const text = late_failure.text;
  fail("cuda", {late_failure.function, ": ", late_failure.name, *text ? " (" : "", text, *text ? ")" : ""});
}

}  // namespace tern::cuda::detail

namespace tern::inline TERN_BUILD::cuda {

[[gnu::noinline, gnu::cold]] TERN_INLINE void refuse(const char* function, DriverStatus status) {
  const detail::StatusText why(status);
  fail("cuda", {function, ": ", why.name, " (", why.text, ")"});
}

}  // namespace tern::cuda
