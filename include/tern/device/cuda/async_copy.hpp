// Copies between pinned memory and a device that run while the host goes on.
#pragma once
#include <memory>

#include "pinned.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// A copy that was started on a stream.
class TERN_API CopyUnderWay final : public tern::detail::AsyncCopy {
 public:
  /// Construct it before the copy is started, since construction can fail.
  CopyUnderWay(int ordinal, PinnedBlock& block, StreamHandle stream)
      : ordinal_(ordinal), block_(block), use_(use_of(block, ordinal, stream)) {}
  /// Marks the end of the copy: the work that was started on its stream so far.
  void record() {
    record_or_wait(done_.event, use_.stream);
    mark_in_flight(use_);
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

/// Starts a copy on the stream for copies. It runs concurrently with the device's other work, but after the allocation
/// of its target.
TERN_API std::unique_ptr<tern::detail::AsyncCopy> start_copy_to_device(int ordinal, void* to, PinnedBlock& block,
                                                                       const void* from, std::size_t bytes);

/// Starts a copy in the order of the device's work.
TERN_API std::unique_ptr<tern::detail::AsyncCopy> start_copy_to_host(int ordinal, PinnedBlock& block, void* to,
                                                                     const void* from, std::size_t bytes);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "async_copy.ipp"
#endif
