// The functions of status.hpp that are not templates.
#pragma once
#include "status.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE constinit LateFailure late_failure{};

TERN_COLD void note_failure(const char* function, const char* name, const char* text) {
  const std::lock_guard lock(late_failure.mutex);
  late_failure.function = function, late_failure.name = name, late_failure.text = text;
  late_failure.any = true;
}

TERN_COLD void note_failure(const char* function, DriverStatus status) {
  const StatusText why(status);
  note_failure(function, why.name, why.text);
}

TERN_COLD void throw_late_failure() {
  const std::lock_guard lock(late_failure.mutex);
  if (!late_failure.any.exchange(false)) return;  // another thread has thrown it
  const char* const text = late_failure.text;
  Error::fail("cuda", {late_failure.function, ": ", late_failure.name, *text ? " (" : "", text, *text ? ")" : ""});
}

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_COLD void refuse(const char* function, DriverStatus status) {
  const detail::StatusText why(status);
  Error::fail("cuda", {function, ": ", why.name, " (", why.text, ")"});
}

}}}  // namespace tern::cuda
