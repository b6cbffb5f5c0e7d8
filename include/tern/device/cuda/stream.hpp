// Streams: queues of a device's work that may run at the same time.
#pragma once
#include "copy.hpp"
#include "traits.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// A queue of a device's work: torch.cuda.Stream. Work of one stream runs in order. Work of two may run at the same
/// time, or in any order: wait_stream() orders it. A program starts on the device's own stream, default_stream(). A
/// copy of a Stream is the same queue.
///
/// A tensor may be used on any stream, and released at any time: its memory is not reused before the work of all
/// streams that was started by then. There is no record_stream(). backward() runs on the stream of the thread that
/// calls it.
class TERN_API Stream {
 public:
  /// One of 32 streams of the device, which are handed out in turn.
  explicit Stream(Cuda device = {current_device()}) : Stream(device.ordinal, &detail::take_stream(device.ordinal)) {}

  Cuda device() const { return {ordinal_}; }
  /// Later work of this stream runs after the other's work so far. The host goes on. The streams may be of two devices.
  void wait_stream(const Stream& other, CallSite here = {}) const;
  /// Waits until all work of the stream so far is done. Error if a kernel met an element that it refuses.
  void synchronize(CallSite here = {}) const;
  /// True if all work of the stream so far is done.
  bool query() const;
  bool operator==(const Stream& other) const { return ordinal_ == other.ordinal_ && pooled_ == other.pooled_; }

 private:
  friend class StreamGuard;
  friend TERN_API Stream default_stream(Cuda device);
  friend TERN_API Stream current_stream(Cuda device);

  Stream(int ordinal, detail::PooledStream* pooled) : ordinal_(ordinal), pooled_(pooled) {}
  const detail::DeviceState& state() const;

  int ordinal_;
  detail::PooledStream* pooled_;  // null: the device's own
};

/// The device's own stream.
TERN_API Stream default_stream(Cuda device = {current_device()});
/// The stream that this thread's work on the device goes to.
TERN_API Stream current_stream(Cuda device = {current_device()});

/// While alive, this thread's work on the stream's device goes to that stream, and new tensors are made on that device:
/// torch.cuda.stream. Error during a capture.
class TERN_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceGuard device_;
  detail::ChosenStream chosen_;
};

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "stream.ipp"
#endif
