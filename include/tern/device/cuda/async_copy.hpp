// Copies between pinned memory and a device that go on while the host does.
#pragma once
#include <memory>

#include "pinned.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A copy that was started on a stream.
class TERN_API CopyUnderWay final : public AsyncCopy {
 public:
  /// To be made before the copy is started: it may fail.
  CopyUnderWay(int ordinal, PinnedBlock& block) : ordinal_(ordinal), block_(block), use_(use_of(block, ordinal)) {}
  /// What was started on the stream up to here is the copy.
  void record(Stream stream) {
    record_or_wait(done_.event, stream);
    mark_in_flight(use_, stream);
    recorded_ = true;
  }

  [[gnu::cold]] TERN_KEY ~CopyUnderWay() override;
  TERN_KEY bool is_done() const override;
  TERN_KEY void wait_on_device() override;
  TERN_KEY void wait_on_host() override;

 private:
  int ordinal_;
  PinnedBlock& block_;
  PinnedUse& use_;
  ScopedEvent done_;
  bool recorded_ = false;  // and nobody has waited for it
};

/// Starts a copy on the stream for copies: beside the device's work, but after the allocation of what it writes.
TERN_API std::unique_ptr<AsyncCopy> start_from_host(int ordinal, void* to, PinnedBlock& block, const void* from, std::size_t bytes);

/// Starts a copy in order with the device's work.
TERN_API std::unique_ptr<AsyncCopy> start_to_host(int ordinal, PinnedBlock& block, void* to, const void* from, std::size_t bytes);

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "async_copy.ipp"
#endif
