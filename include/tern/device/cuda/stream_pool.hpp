// The streams that programs take, other than a device's own: how they wait for each other, and how memory is
// released that several of them may use.
#pragma once
#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// Frees what the device's cache has kept, in order with the work of its own stream.
TERN_API void free_blocks(const DeviceState& own, const std::vector<DevicePointer>& blocks);

/// A stream of the open device: a new one, or, once there are as many as the pool holds, each in turn.
TERN_API PooledStream& take_stream(int ordinal);

/// Makes later work of one stream wait for another one's work so far. The event is recorded there.
TERN_API void wait_for_stream(StreamHandle later, StreamHandle earlier, Event reached);

/// Makes later work of all streams that programs take wait for the work of the device's own stream so far.
TERN_API void wait_for_own_stream(const DeviceState& own);

/// Frees memory after the work so far of every stream that may use it. No stream waits for another one. For
/// destructors, which cannot throw.
TERN_API void release_behind_all(const DeviceState& own, DevicePointer memory);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "stream_pool.ipp"
#endif
