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
[[gnu::noinline, gnu::cold]] inline Failure* make_failure() {
  void* memory = nullptr;
  TERN_CUDA(cuMemHostAlloc, &memory, sizeof(Failure), host_memory_mapped);
  *static_cast<Failure*>(memory) = {};
  return static_cast<Failure*>(memory);
}

[[gnu::noinline, gnu::cold]] inline void throw_failure(Failure& failure) {
  if (!std::atomic_ref(failure.written).exchange(0)) return;  // another thread has thrown it
  const CallSite op = failure.op;
  const tern::detail::BadElement what = failure.what;
  const Index number = failure.number, size = failure.size, position = failure.position;
  std::atomic_ref(failure.claimed).store(0);
  const tern::detail::OutermostScope scope({&op, &op});  // not the call that waits for the device
  tern::detail::refuse_element(op.name(), what, number, size, position, "; found by an earlier kernel on the device");
}

/// Throws an Error, once, if a finished kernel has failed.
inline void check_failure(Failure& failure) {
  if (std::atomic_ref(failure.written).load(std::memory_order_acquire)) [[unlikely]]
    throw_failure(failure);
}

}}}  // namespace tern::cuda::detail
