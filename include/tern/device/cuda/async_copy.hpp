// Copies between pinned memory and a device that go on while the host does.
#pragma once
#include <memory>

#include "pinned.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A copy that was started on a stream.
class CopyUnderWay final : public AsyncCopy {
 public:
  /// To be made before the copy is started: it may fail.
  CopyUnderWay(int ordinal, PinnedBlock& block) : ordinal_(ordinal), block_(block), use_(use_of(block, ordinal)) {}
  /// What was started on the stream up to here is the copy.
  void record(Stream stream) {
    record_or_wait(done_.event, stream);
    mark_in_flight(use_, stream);
    recorded_ = true;
  }

  [[gnu::noinline, gnu::cold]] ~CopyUnderWay() override {
    if (!recorded_) return;
    const DeviceState& state = bind_for_release(ordinal_);
    const Status status = driver().functions.cuStreamWaitEvent(state.compute, done_.event, 0);
    if (!status) return;
    note_failure("cuStreamWaitEvent", status);
    driver().functions.cuEventSynchronize(done_.event);
  }
  [[gnu::noinline]] bool is_done() const override {
    bind(ordinal_);
    const Status status = driver().functions.cuEventQuery(done_.event);
    if (status && status != status_not_ready) refuse("cuEventQuery", status);
    return status == 0;
  }
  [[gnu::noinline]] void wait_on_device() override {
    const DeviceState& state = bind(ordinal_);
    TERN_CUDA(cuStreamWaitEvent, state.compute, done_.event, 0);
    recorded_ = false;
  }
  [[gnu::noinline]] void wait_on_host() override {
    block_.wait_idle();
    check_failure(*bind(ordinal_).failure);
    recorded_ = false;
  }

 private:
  int ordinal_;
  PinnedBlock& block_;
  PinnedUse& use_;
  ScopedEvent done_;
  bool recorded_ = false;  // and nobody has waited for it
};

/// Starts a copy on the stream for copies: beside the device's work, but after the allocation of what it writes.
[[gnu::noinline]] inline std::unique_ptr<AsyncCopy> start_from_host(int ordinal, void* to, PinnedBlock& block, const void* from,
                                                                    std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  auto copy = std::make_unique<CopyUnderWay>(ordinal, block);
  const ScopedEvent allocated;
  TERN_CUDA(cuEventRecord, allocated.event, state.compute);
  TERN_CUDA(cuStreamWaitEvent, state.copy, allocated.event, 0);
  start_to_device(ordinal, state.copy, to, from, bytes);
  copy->record(state.copy);
  return copy;
}

/// Starts a copy in order with the device's work.
[[gnu::noinline]] inline std::unique_ptr<AsyncCopy> start_to_host(int ordinal, PinnedBlock& block, void* to, const void* from,
                                                                  std::size_t bytes) {
  const DeviceState& state = bind(ordinal);
  auto copy = std::make_unique<CopyUnderWay>(ordinal, block);
  start_to_host(ordinal, state.compute, to, from, bytes, true);
  copy->record(state.compute);
  return copy;
}

}  // namespace tern::cuda::detail
