// The functions of context.hpp that are not templates.
#pragma once
#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_COLD std::string System::look() {
  const std::lock_guard lock(mutex_);
  if (usable) return {};
  if (!driver().library.problem.empty()) return "NVIDIA's driver library cannot be used: " + driver().library.problem;
  const auto& cu = driver().functions;
  const auto does_not_start = [](const char* function, DriverStatus status) {
    return tern::detail::text({"the driver does not start: ", function, ": ", StatusText(status).name});
  };
  int count = 0;
  if (const DriverStatus status = cu.cuInit(0)) return does_not_start("cuInit", status);
  if (const DriverStatus status = cu.cuDriverGetVersion(&version)) return does_not_start("cuDriverGetVersion", status);
  if (version < 12000)
    return tern::detail::text(
        {"the driver is too old: it offers CUDA ", version / 1000, ".", version % 1000 / 10, ", and tern needs 12.0"});
  if (const DriverStatus status = cu.cuDeviceGetCount(&count)) return does_not_start("cuDeviceGetCount", status);
  if (count == 0) return "the driver knows no device";
  for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<DeviceState>());
  opened = std::vector<std::once_flag>(devices.size());
  peers = std::vector<std::once_flag>(devices.size() * devices.size());
  usable = true;
  return {};
}

TERN_NOINLINE System& system() {
  static System& instance = *new System;
  return instance;
}

TERN_INLINE constinit thread_local int current_ordinal = 0;

TERN_INLINE constinit thread_local ChosenStream* chosen_streams = nullptr;

TERN_INLINE const ChosenStream* chosen_stream(int ordinal) {
  const ChosenStream* chosen = chosen_streams;
  while (chosen && chosen->ordinal != ordinal) chosen = chosen->outer;
  return chosen;
}

TERN_COLD OpenGuard::~OpenGuard() {
  if (complete || !state.context) return;
  for (const StreamHandle stream : {state.compute, state.copy})
    if (stream) TERN_CUDA_RELEASE(cuStreamDestroy_v2, stream);
  if (state.failure) TERN_CUDA_RELEASE(cuMemFreeHost, state.failure);
  TERN_CUDA_RELEASE(cuCtxSetCurrent, nullptr);
  TERN_CUDA_RELEASE(cuDevicePrimaryCtxRelease_v2, device);
  state = {};
}

/// Whether freed blocks are kept above the driver's pool. Tools that watch for accesses to freed memory see more if
/// not.
TERN_COLD bool keeps_blocks() {
  const char* const off = std::getenv("TERN_NO_CUDA_MEMORY_CACHING");
  return !tern::detail::memory::separate_blocks && (!off || !off[0] || (off[0] == '0' && !off[1]));
}

TERN_COLD void open_device(DeviceState& state, int ordinal) {
  int device;
  TERN_CUDA(cuDeviceGet, &device, ordinal);
  OpenGuard opening{state, device};
  TERN_CUDA(cuDeviceGetAttribute, &state.major, compute_capability_major, device);
  TERN_CUDA(cuDeviceGetAttribute, &state.minor, compute_capability_minor, device);
  TERN_CUDA(cuDeviceGetAttribute, &state.multiprocessors, multiprocessor_count, device);
  TERN_CUDA(cuDevicePrimaryCtxRetain, &state.context, device);
  TERN_CUDA(cuCtxSetCurrent, state.context);
  state.failure = make_failure();
  for (StreamHandle* const stream : {&state.compute, &state.copy})
    TERN_CUDA(cuStreamCreate, stream, stream_non_blocking);
  TERN_CUDA(cuDeviceGetDefaultMemPool, &state.pool, device);
  std::uint64_t keep = ~std::uint64_t(0);  // the pool keeps freed memory until empty_cache()
  TERN_CUDA(cuMemPoolSetAttribute, state.pool, pool_release_threshold, &keep);
  state.streams = new StreamPool;
  state.blocks = new BlockCache(keeps_blocks());
  opening.complete = true;
}

TERN_NOINLINE void record_or_wait(Event event, StreamHandle stream) {
  const DriverStatus status = driver().functions.cuEventRecord(event, stream);
  if (!status) return;
  driver().functions.cuStreamSynchronize(stream);
  refuse("cuEventRecord", status);
}

TERN_INLINE Context current_context() {
  Context context = nullptr;
  return driver().functions.cuCtxGetCurrent(&context) ? nullptr : context;
}

TERN_INLINE DeviceState& bind_for_release(int ordinal) {
  DeviceState& state = *system().devices[std::size_t(ordinal)];
  if (current_context() == state.context) [[likely]]
    return state;
  if (const DriverStatus status = driver().functions.cuCtxSetCurrent(state.context))
    note_failure("cuCtxSetCurrent", status);
  return state;
}

TERN_NOINLINE DeviceState& bind(int ordinal) {
  check_late_failure();
  if (capture) [[unlikely]]
    return capture->bind(ordinal);
  System& all = system();
  if (!all.usable) [[unlikely]] {
    const std::string why_not = all.look();
    if (!why_not.empty()) Error::fail("cuda", {"no CUDA device can be used: ", why_not});
  }
  if (ordinal < 0 || std::size_t(ordinal) >= all.devices.size())
    Error::fail("cuda", {"there is no device cuda:", ordinal, "; there are ", int(all.devices.size())});
  DeviceState& state = *all.devices[std::size_t(ordinal)];
  std::call_once(all.opened[std::size_t(ordinal)], [&] { open_device(state, ordinal); });
  if (current_context() != state.context) [[unlikely]]
    TERN_CUDA(cuCtxSetCurrent, state.context);
  if (chosen_streams) [[unlikely]]
    if (const ChosenStream* const chosen = chosen_stream(ordinal); chosen && chosen->stream)
      return chosen->stream->state;
  return state;
}

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_COLD DeviceInfo device_info(int ordinal) {
  const detail::DeviceState& state = detail::bind(ordinal);
  int device;
  char name[256] = {};
  std::size_t bytes = 0;
  TERN_CUDA(cuDeviceGet, &device, ordinal);
  TERN_CUDA(cuDeviceGetName, name, int(sizeof name), device);
  TERN_CUDA(cuDeviceTotalMem_v2, &bytes, device);
  const int version = detail::system().version;
  return {name,        state.major,
          state.minor, state.multiprocessors,
          bytes,       tern::detail::text({version / 1000, ".", version % 1000 / 10})};
}

}}}  // namespace tern::cuda
