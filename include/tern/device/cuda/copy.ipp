// The functions of copy.hpp that are not templates.
#pragma once
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_NOINLINE void start_copy_to_device(int ordinal, StreamHandle stream, void* to, const void* from,
                                        std::size_t bytes) {
  if (!bytes) return;
  const Span span(tern::detail::Work::to_device, "copy to device", ordinal, stream, bytes, true);
  TERN_CUDA(cuMemcpyHtoDAsync_v2, reinterpret_cast<DevicePointer>(to), from, bytes, stream);
}

TERN_NOINLINE void start_copy_to_host(int ordinal, StreamHandle stream, void* to, const void* from, std::size_t bytes,
                                      bool pinned) {
  if (!bytes) return;
  const Span span(tern::detail::Work::to_host, "copy to host", ordinal, stream, bytes, pinned);
  TERN_CUDA(cuMemcpyDtoHAsync_v2, to, reinterpret_cast<DevicePointer>(from), bytes, stream);
}

TERN_NOINLINE void start_copy_on_device(int ordinal, void* to, const void* from, std::size_t bytes) {
  const StreamHandle stream = bind(ordinal).compute;
  const Span span(tern::detail::Work::kernel, "copy on device", ordinal, stream, bytes);
  TERN_CUDA(cuMemcpyDtoDAsync_v2, reinterpret_cast<DevicePointer>(to), reinterpret_cast<DevicePointer>(from), bytes,
            stream);
}

TERN_NOINLINE void start_filling(int ordinal, void* memory, unsigned char value, std::size_t bytes) {
  const StreamHandle stream = bind(ordinal).compute;
  const Span span(tern::detail::Work::kernel, "fill bytes", ordinal, stream, bytes);
  TERN_CUDA(cuMemsetD8Async, reinterpret_cast<DevicePointer>(memory), value, bytes, stream);
}

/// Without that, copies go through the host.
TERN_COLD void let_reach(int ordinal, int other) {
  System& all = system();
  const auto once = [&] {
    int device = 0, peer = 0, can = 0;
    TERN_CUDA(cuDeviceGet, &device, ordinal);
    TERN_CUDA(cuDeviceGet, &peer, other);
    TERN_CUDA(cuDeviceCanAccessPeer, &can, device, peer);
    const PoolAccess access{location_device, device, access_read_write};
    if (can) TERN_CUDA(cuMemPoolSetAccess, all.devices[std::size_t(other)]->pool, &access, 1);
  };
  std::call_once(all.peers[std::size_t(ordinal) * all.devices.size() + std::size_t(other)], once);
}

TERN_COLD void copy_to_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if (!bytes) return;
  refuse_capture("to", "a graph has one device");
  const DeviceState& source = bind(from_ordinal);
  const ScopedEvent ready;
  TERN_CUDA(cuEventRecord, ready.event, source.compute);
  const DeviceState& target = bind(to_ordinal);
  let_reach(to_ordinal, from_ordinal);
  let_reach(from_ordinal, to_ordinal);
  const ScopedEvent done;
  TERN_CUDA(cuStreamWaitEvent, target.compute, ready.event, 0);
  {
    const Span span(tern::detail::Work::to_device, "copy to peer", to_ordinal, target.compute, bytes);
    TERN_CUDA(cuMemcpyPeerAsync, reinterpret_cast<DevicePointer>(to), target.context,
              reinterpret_cast<DevicePointer>(from), source.context, bytes, target.compute);
  }
  record_or_wait(done.event, target.compute);
  if (const DriverStatus status = driver().functions.cuStreamWaitEvent(source.compute, done.event, 0)) {
    driver().functions.cuStreamSynchronize(target.compute);  // otherwise the source could be freed during the copy
    refuse("cuStreamWaitEvent", status);
  }
}

TERN_COLD void wait_for(int ordinal, const DeviceState& state) {
  if (const DriverStatus status = wait_for_work(ordinal, state.compute)) {
    driver().functions.cuStreamSynchronize(state.compute);
    refuse("cuStreamSynchronize", status);
  }
  check_failure(*state.failure);
}

TERN_COLD void copy_to_host(int ordinal, void* to, const void* from, std::size_t bytes) {
  refuse_capture("to", host_waits);
  const DeviceState& state = bind(ordinal);
  const Span span(tern::detail::Work::wait, "wait for a copy", ordinal, state.compute);
  start_copy_to_host(ordinal, state.compute, to, from, bytes, false);
  wait_for(ordinal, state);
}

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_NOINLINE void synchronize(Cuda device, CallSite here) {
  detail::refuse_capture("synchronize", "the host waits for the device; call synchronize() after replay()");
  const CallScope scope(here);
  detail::bind(device.ordinal);
  const detail::DeviceState& own = *detail::system().devices[std::size_t(device.ordinal)];
  const detail::Span span(tern::detail::Work::wait, "wait for the device", device.ordinal, own.compute);
  for (int i = 0; i < own.streams->count; ++i)
    if (const DriverStatus status = detail::wait_for_work(device.ordinal, own.streams->streams[i]->state.compute))
      refuse("cuStreamSynchronize", status);
  detail::wait_for(device.ordinal, own);
}

}}}  // namespace tern::cuda
