// Copies of bytes between host and devices.
#pragma once
#include "span.hpp"
#include "stream_pool.hpp"
#include "watch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {

/// Starts a copy of pinned host memory to the device.
TERN_API void start_copy_to_device(int ordinal, StreamHandle stream, void* to, const void* from, std::size_t bytes);

/// Starts a copy of the device's memory to the host.
TERN_API void start_copy_to_host(int ordinal, StreamHandle stream, void* to, const void* from, std::size_t bytes,
                                 bool pinned);

/// Starts a copy within one device.
TERN_API void start_copy_on_device(int ordinal, void* to, const void* from, std::size_t bytes);

/// Starts setting every byte to a value.
TERN_API void start_filling(int ordinal, void* memory, unsigned char value, std::size_t bytes);

/// Lets a device reach another open one's memory, if the machine connects them.
TERN_API void let_reach(int ordinal, int other);

/// Starts a copy from one device to another.
TERN_API void copy_to_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes);

/// Waits for a device whose context is current. If the wait fails, it waits once more, because queued copies may write
/// to memory that the caller releases.
TERN_API void wait_for(int ordinal, const DeviceState& state);

/// Copies device memory to pageable host memory and waits. The driver may block already in the call that starts the
/// copy, so the time of the host's wait is measured from there.
TERN_API void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes);

}  // namespace detail

/// Waits until all work that was started on the device is done. Error if a kernel met an element that it refuses.
TERN_API void synchronize(Cuda device = {current_device()}, CallSite here = {});

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
