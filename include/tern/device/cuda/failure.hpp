// Errors about elements that only the device knows, such as an index out of range. The kernel replaces the element by
// one that keeps memory safe, goes on, and records the first failure. The host throws it when it next waits for the
// device.
#pragma once
#include "../../core/element_error.hpp"
#include "status.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// Lies in the host's memory; kernels write it. The thread that gets `claimed` writes the other fields, `written` last:
/// it is 0 until they can be read.
struct Failure {
  std::uint64_t written = 0, claimed = 0;
  CallSite op = CallSite::unknown;
  tern::detail::BadElement what;
  Index number, size, position;
};

/// The failure record of a device, never freed. The device's context must be current.
TERN_API Failure* make_failure();

TERN_API void throw_failure(Failure& failure);

/// Throws an Error, once, if a finished kernel has failed.
inline void check_failure(Failure& failure) {
  if (std::atomic_ref(failure.written).load(std::memory_order_acquire)) [[unlikely]]
    throw_failure(failure);
}

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "failure.ipp"
#endif
