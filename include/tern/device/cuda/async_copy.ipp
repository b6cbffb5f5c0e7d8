// The functions of async_copy.hpp that are not templates.
#pragma once
#include "async_copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE CopyUnderWay::~CopyUnderWay() {
  if (!recorded_) return;
  const DeviceState& state = bind_for_release(ordinal_);
  const DriverStatus status = driver().functions.cuStreamWaitEvent(state.compute, done_.event, 0);
  if (!status) return;
  note_failure("cuStreamWaitEvent", status);
  driver().functions.cuEventSynchronize(done_.event);
}

TERN_INLINE bool CopyUnderWay::is_done() const {
  bind(ordinal_);
  const DriverStatus status = driver().functions.cuEventQuery(done_.event);
  if (status && status != status_not_ready) refuse("cuEventQuery", status);
  return status == 0;
}

TERN_INLINE void CopyUnderWay::wait_on_device() {
  const DeviceState& state = bind(ordinal_);
  TERN_CUDA(cuStreamWaitEvent, state.compute, done_.event, 0);
  recorded_ = false;
}

TERN_INLINE void CopyUnderWay::wait_on_host() {
  block_.wait_idle();
  check_failure(*bind(ordinal_).failure);
  recorded_ = false;
}

TERN_NOINLINE std::unique_ptr<tern::detail::AsyncCopy> start_copy_to_device(int ordinal, void* to, PinnedBlock& block,
                                                                            const void* from, std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  auto copy = std::make_unique<CopyUnderWay>(ordinal, block, state.copy);
  const ScopedEvent allocated;
  TERN_CUDA(cuEventRecord, allocated.event, state.compute);
  TERN_CUDA(cuStreamWaitEvent, state.copy, allocated.event, 0);
  start_copy_to_device(ordinal, state.copy, to, from, bytes);
  copy->record();
  return copy;
}

TERN_NOINLINE std::unique_ptr<tern::detail::AsyncCopy> start_copy_to_host(int ordinal, PinnedBlock& block, void* to,
                                                                          const void* from, std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  auto copy = std::make_unique<CopyUnderWay>(ordinal, block, state.compute);
  start_copy_to_host(ordinal, state.compute, to, from, bytes, true);
  copy->record();
  return copy;
}

}}}  // namespace tern::cuda::detail
