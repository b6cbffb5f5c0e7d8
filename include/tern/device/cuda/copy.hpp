// Bytes across the wire.
#pragma once
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// Starts a copy of pinned host memory to the device.
TERN_API void start_to_device(int ordinal, Stream stream, void* to, const void* from, std::size_t bytes);

/// Starts a copy of the device's memory to the host.
TERN_API void start_to_host(int ordinal, Stream stream, void* to, const void* from, std::size_t bytes, bool pinned);

/// Starts a copy between two places of one device.
TERN_API void start_on_device(int ordinal, void* to, const void* from, std::size_t bytes);

/// Starts setting every byte.
TERN_API void start_filling(int ordinal, void* memory, unsigned char value, std::size_t bytes);

/// Starts a copy from one device to another.
TERN_API void copy_to_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes);

/// Waits for a device that is bound. A wait that fails is tried again: queued copies may write to memory that the caller gives up.
TERN_API void wait_for(const DeviceState& state);

/// Copies the device's memory to pageable host memory, where it is when this returns. The driver may wait for the copy, and for all work
/// before it, in the call that starts it; so the host's wait is counted from there.
TERN_API void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes);

}  // namespace detail

/// Waits until everything that was started on a device is done. Error if a kernel met a number that it cannot use.
TERN_API void synchronize(Cuda device = {current_device()}, Here here = {});

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
