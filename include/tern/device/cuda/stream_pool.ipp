// The functions of stream_pool.hpp that are not templates.
#pragma once
#include "stream_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// A stream that runs after what the device's own stream has done so far: a graph's memory is allocated there.
TERN_COLD PooledStream* new_stream(const DeviceState& own) {
  auto made = std::make_unique<PooledStream>();
  TERN_CUDA(cuStreamCreate, &made->state.compute, stream_non_blocking);
  wait_for_stream(made->state.compute, own.compute, made->reached.event);
  const StreamHandle handle = made->state.compute;
  made->state = own;
  made->state.compute = handle;
  return made.release();
}

TERN_COLD void free_blocks(const DeviceState& own, const std::vector<DevicePointer>& blocks) {
  for (const DevicePointer memory : blocks) TERN_CUDA_RELEASE(cuMemFreeAsync, memory, own.compute);
}

TERN_COLD PooledStream& take_stream(int ordinal) {
  bind(ordinal);
  const DeviceState& own = *system().devices[std::size_t(ordinal)];
  StreamPool& pool = *own.streams;
  const std::lock_guard lock(pool.mutex);
  free_blocks(own, own.blocks->close());
  if (!pool.release) pool.release = new_stream(own);
  const int i = pool.next;
  if (i == pool.count) {
    pool.streams[i] = new_stream(own);
    ++pool.count;
  }
  pool.next = (i + 1) % StreamPool::most;
  return *pool.streams[i];
}

TERN_INLINE void wait_for_stream(StreamHandle later, StreamHandle earlier, Event reached) {
  TERN_CUDA(cuEventRecord, reached, earlier);
  TERN_CUDA(cuStreamWaitEvent, later, reached, 0);
}

TERN_COLD void wait_for_own_stream(const DeviceState& own) {
  StreamPool& pool = *own.streams;
  const std::lock_guard lock(pool.mutex);
  for (int i = 0; i < pool.count; ++i)
    wait_for_stream(pool.streams[i]->state.compute, own.compute, pool.streams[i]->reached.event);
}

TERN_COLD void release_behind_all(const DeviceState& own, DevicePointer memory) {
  const DriverFunctions& cu = driver().functions;
  StreamPool& pool = *own.streams;
  const std::lock_guard lock(pool.mutex);
  const auto wait = [&](StreamHandle stream, Event reached) {
    DriverStatus status = cu.cuEventRecord(reached, stream);
    if (!status) status = cu.cuStreamWaitEvent(pool.release->state.compute, reached, 0);
    if (!status) return;
    note_failure("cuStreamWaitEvent", status);
    cu.cuStreamSynchronize(stream);
  };
  wait(own.compute, pool.release->reached.event);
  for (int i = 0; i < pool.count; ++i) {
    PooledStream& stream = *pool.streams[i];
    if (stream.guards.load() > 0 || stream.used.exchange(false)) wait(stream.state.compute, stream.reached.event);
  }
  TERN_CUDA_RELEASE(cuMemFreeAsync, memory, pool.release->state.compute);
}

}}}  // namespace tern::cuda::detail
