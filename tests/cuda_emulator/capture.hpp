// Stream capture: work that becomes the nodes of a graph, and what may not be called meanwhile.
#pragma once
#include "state.hpp"

namespace emulator {

/// Adds work to the graph that the stream is being captured into.
int add_node(Stream& stream, Work work);

/// CUresult of a call that is potentially unsafe during a capture (cuThreadExchangeStreamCaptureMode): invalidates the
/// captures that forbid it to this thread.
int refuse_if_unsafe();
/// The same for work on the legacy stream, which a blocking stream in capture would have to wait for.
int refuse_implicit_dependency(const Stream& stream);
/// The same for waiting for a stream, or asking whether it is done.
int refuse_if_captured(const Stream& stream);
/// The same for an event.
int refuse_if_captured(const Event& event);

/// Makes the stream's next work wait for the event where one of the two is captured; `handled` says whether one was.
int wait_in_capture(Stream& stream, const Event& event, bool& handled);

/// The capture is still in progress.
bool is_active(const Capture* capture);

}  // namespace emulator
