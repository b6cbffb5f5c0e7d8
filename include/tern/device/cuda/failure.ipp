// The functions of failure.hpp that are not templates.
#pragma once
#include "failure.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_COLD Failure* make_failure() {
  void* memory = nullptr;
  TERN_CUDA(cuMemHostAlloc, &memory, sizeof(Failure), host_memory_mapped);
  *static_cast<Failure*>(memory) = {};
  return static_cast<Failure*>(memory);
}

TERN_COLD void throw_failure(Failure& failure) {
  if (!std::atomic_ref(failure.written).exchange(0)) return;  // another thread has thrown it
  const CallSite op = failure.op;
  const tern::detail::BadElement what = failure.what;
  const Index number = failure.number, size = failure.size, position = failure.position;
  std::atomic_ref(failure.claimed).store(0);
  const tern::detail::OutermostScope scope({&op, &op});  // not the call that waits for the device
  tern::detail::refuse_element(op.name(), what, number, size, position, "; found by an earlier kernel on the device");
}

}}}  // namespace tern::cuda::detail
