// What a kernel finds wrong with elements that only the device knows, an index out of range say. The kernel goes on
// with a number that keeps memory safe, and notes the first failure; the host throws it where it next waits for the
// device.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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
[[gnu::noinline, gnu::cold]] inline Failure* make_failure() {
  void* memory = nullptr;
  TERN_CUDA(cuMemHostAlloc, &memory, sizeof(Failure), host_memory_mapped);
  *static_cast<Failure*>(memory) = {};
  return static_cast<Failure*>(memory);
}

[[gnu::noinline, gnu::cold]] inline void throw_failure(Failure& failure) {
  const BadElement what = failure.what;
  const Index number = failure.number, size = failure.size, position = failure.position;
  if (const char* const op = std::atomic_ref(failure.op).exchange(nullptr))  // else another thread has thrown it
    refuse_element(op, what, number, size, position, "; found by an earlier kernel on the device");
}

/// Error if a kernel that is done has failed. It is thrown once.
inline void check_failure(Failure& failure) {
  if (std::atomic_ref(failure.op).load(std::memory_order_relaxed)) [[unlikely]]
    throw_failure(failure);
}

}  // namespace tern::cuda::detail
