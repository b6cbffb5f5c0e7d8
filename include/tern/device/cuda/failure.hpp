// What a kernel finds wrong with elements that only the device knows, an index out of range say. The kernel goes on
// with a number that keeps memory safe, and notes the first failure; the host throws it where it next waits for the
// device.
#pragma once
#include "../../core/element_error.hpp"
#include "status.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// In the host's memory, where kernels write it. op is null while nothing has failed.
struct Failure {
  const char* op;
  BadElement what;
  Index number, size, position;
};

/// A device's own, never freed. The device's context must be bound.
TERN_API Failure* make_failure();

TERN_API void throw_failure(Failure& failure);

/// Error if a kernel that is done has failed. It is thrown once.
inline void check_failure(Failure& failure) {
  if (std::atomic_ref(failure.op).load(std::memory_order_relaxed)) [[unlikely]]
    throw_failure(failure);
}

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "failure.ipp"
#endif
