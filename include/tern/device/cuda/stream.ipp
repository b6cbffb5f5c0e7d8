// The functions of stream.hpp that are not templates.
#pragma once
#include "stream.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_INLINE const detail::DeviceState& Stream::state() const {
  detail::bind(ordinal_);
  return pooled_ ? pooled_->state : *detail::system().devices[std::size_t(ordinal_)];
}

TERN_NOINLINE void Stream::wait_stream(const Stream& other, CallSite here) const {
  const CallScope scope(here);
  detail::refuse_capture("wait_stream", "a graph has one stream");
  const detail::DeviceState& earlier = other.state();
  const detail::ScopedEvent reached;
  TERN_CUDA(cuEventRecord, reached.event, earlier.compute);
  const detail::DeviceState& later = state();
  TERN_CUDA(cuStreamWaitEvent, later.compute, reached.event, 0);
}

TERN_NOINLINE void Stream::synchronize(CallSite here) const {
  const CallScope scope(here);
  detail::refuse_capture("synchronize", "the host waits for the device; call synchronize() after replay()");
  const detail::DeviceState& waited = state();
  const detail::Span span(tern::detail::Work::wait, "wait for a stream", ordinal_, waited.compute);
  detail::wait_for(ordinal_, waited);
}

TERN_NOINLINE bool Stream::query() const {
  detail::refuse_capture("query", "a capture runs nothing");
  const DriverStatus status = driver().functions.cuStreamQuery(state().compute);
  if (status && status != status_not_ready) refuse("cuStreamQuery", status);
  return status == 0;
}

TERN_NOINLINE Stream default_stream(Cuda device) {
  detail::bind(device.ordinal);
  return {device.ordinal, nullptr};
}

TERN_NOINLINE Stream current_stream(Cuda device) {
  detail::bind(device.ordinal);
  const detail::ChosenStream* const chosen = detail::chosen_stream(device.ordinal);
  return {device.ordinal, chosen ? chosen->stream : nullptr};
}

TERN_NOINLINE StreamGuard::StreamGuard(const Stream& stream)
    : device_(stream.device()), chosen_{stream.ordinal_, stream.pooled_, detail::chosen_streams} {
  detail::refuse_capture("StreamGuard", "a graph has one stream");
  if (chosen_.stream) ++chosen_.stream->guards;
  detail::chosen_streams = &chosen_;
}

TERN_INLINE StreamGuard::~StreamGuard() {
  detail::chosen_streams = chosen_.outer;
  if (!chosen_.stream) return;
  chosen_.stream->used = true;
  --chosen_.stream->guards;
}

}}}  // namespace tern::cuda
