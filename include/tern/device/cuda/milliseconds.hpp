// How long work takes on a device, for choices between kernels.
#pragma once
#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// The time of what f() queues on the device's current stream. The host waits.
template <class F>
float milliseconds_of(int ordinal, const F& f) {
  const DeviceState& state = bind(ordinal);
  const ScopedEvent start(event_default), end(event_default);
  TERN_CUDA(cuEventRecord, start.event, state.compute);
  f();
  TERN_CUDA(cuEventRecord, end.event, state.compute);
  TERN_CUDA(cuEventSynchronize, end.event);
  float milliseconds = 0;
  TERN_CUDA(cuEventElapsedTime, &milliseconds, start.event, end.event);
  return milliseconds;
}

}}}  // namespace tern::cuda::detail
