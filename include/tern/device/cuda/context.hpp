// Which CUDA devices there are, what they can do, and the stream that a thread's work on one goes to.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <memory>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "failure.hpp"

namespace tern::inline TERN_BUILD {

/// A CUDA device by its number.
struct Cuda {
  int ordinal = 0;
};

namespace cuda {

/// What a device is.
struct DeviceInfo {
  std::string name;
  int major, minor;         // compute capability
  int multiprocessors;
  std::size_t memory_bytes;
  std::string driver_version;
};

namespace detail {

/// One device, once it is used. Its streams never synchronise with the legacy stream.
struct DeviceState {
  Context context = nullptr;
  Stream compute = nullptr, copy = nullptr;  // copy: for transfers that overlap with work
  MemoryPool pool = nullptr;
  Failure* failure = nullptr;
  int major = 0, minor = 0, multiprocessors = 0;
};

/// What is known of the driver. Nothing changes any more once it is usable; until then each look is a new one.
struct System {
  std::atomic<bool> usable{false};
  int version = 0;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::vector<std::once_flag> opened;

  /// Why no device can be used; empty if one can.
  [[gnu::noinline, gnu::cold]] std::string look() {
    const std::lock_guard lock(mutex_);
    if (usable) return {};
    if (!driver().library.problem.empty()) return "NVIDIA's driver library cannot be used: " + driver().library.problem;
    const auto& cu = driver().functions;
    const auto does_not_start = [](const char* function, Status status) {
      return text({"the driver does not start: ", function, ": ", StatusText(status).name});
    };
    int count = 0;
    if (const Status status = cu.cuInit(0)) return does_not_start("cuInit", status);
    if (const Status status = cu.cuDriverGetVersion(&version)) return does_not_start("cuDriverGetVersion", status);
    if (version < 12000)
      return text({"the driver is too old: it offers CUDA ", version / 1000, ".", version % 1000 / 10, ", and tern needs 12.0"});
    if (const Status status = cu.cuDeviceGetCount(&count)) return does_not_start("cuDeviceGetCount", status);
    if (count == 0) return "the driver knows no device";
    for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<DeviceState>());
    opened = std::vector<std::once_flag>(devices.size());
    usable = true;
    return {};
  }

 private:
  std::mutex mutex_;
};
[[gnu::noinline]] inline System& system() {
  static System& instance = *new System;
  return instance;
}

inline constinit thread_local int current_ordinal = 0;
inline constinit thread_local int bound_ordinal = -1;  // whose context the driver has for this thread

/// Gives back what a device was opened with, if it was not opened to the end.
struct Opening {
  DeviceState& state;
  int device;
  bool complete = false;
  [[gnu::noinline, gnu::cold]] ~Opening() {
    if (complete || !state.context) return;
    for (const Stream stream : {state.compute, state.copy})
      if (stream) TERN_CUDA_RELEASE(cuStreamDestroy_v2, stream);
    if (state.failure) TERN_CUDA_RELEASE(cuMemFreeHost, state.failure);
    TERN_CUDA_RELEASE(cuCtxSetCurrent, nullptr);
    TERN_CUDA_RELEASE(cuDevicePrimaryCtxRelease_v2, device);
    state = {};
  }
};

[[gnu::noinline, gnu::cold]] inline void open_device(DeviceState& state, int ordinal) {
  bound_ordinal = -1;
  int device;
  TERN_CUDA(cuDeviceGet, &device, ordinal);
  Opening opening{state, device};
  TERN_CUDA(cuDeviceGetAttribute, &state.major, compute_capability_major, device);
  TERN_CUDA(cuDeviceGetAttribute, &state.minor, compute_capability_minor, device);
  TERN_CUDA(cuDeviceGetAttribute, &state.multiprocessors, multiprocessor_count, device);
  TERN_CUDA(cuDevicePrimaryCtxRetain, &state.context, device);
  TERN_CUDA(cuCtxSetCurrent, state.context);
  state.failure = make_failure();
  for (Stream* const stream : {&state.compute, &state.copy}) TERN_CUDA(cuStreamCreate, stream, stream_non_blocking);
  TERN_CUDA(cuDeviceGetDefaultMemPool, &state.pool, device);
  std::uint64_t keep = ~std::uint64_t(0);  // freed memory is kept for reuse until empty_cache()
  TERN_CUDA(cuMemPoolSetAttribute, state.pool, pool_release_threshold, &keep);
  opening.complete = true;
}

/// An event that ends with its scope.
struct ScopedEvent {
  Event event = nullptr;
  explicit ScopedEvent(unsigned flags = event_disable_timing) { TERN_CUDA(cuEventCreate, &event, flags); }
  ~ScopedEvent() {
    if (event) TERN_CUDA_RELEASE(cuEventDestroy_v2, event);
  }
  Event take() { return std::exchange(event, nullptr); }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;
};

/// Records the event behind what the stream was given. Where that fails nobody could wait for that work later, so it is waited for.
[[gnu::noinline]] inline void record_or_wait(Event event, Stream stream) {
  const Status status = driver().functions.cuEventRecord(event, stream);
  if (!status) return;
  driver().functions.cuStreamSynchronize(stream);
  refuse("cuEventRecord", status);
}

/// Binds the context of an open device to this thread; for destructors, which have nobody to throw to.
inline DeviceState& bind_for_release(int ordinal) {
  DeviceState& state = *system().devices[std::size_t(ordinal)];
  if (bound_ordinal == ordinal) return state;
  bound_ordinal = -1;
  if (const Status status = driver().functions.cuCtxSetCurrent(state.context)) note_failure("cuCtxSetCurrent", status);
  else if (!capture) bound_ordinal = ordinal;  // a thread that captures is bound to no device, so that bind() asks the capture
  return state;
}

/// The device, opened, its context bound to this thread. Error if it cannot be used, or if an earlier release has failed.
[[gnu::noinline]] inline DeviceState& bind(int ordinal) {
  check_late_failure();
  System& all = system();
  if (bound_ordinal == ordinal) [[likely]] return *all.devices[std::size_t(ordinal)];
  if (capture) return capture->bind(ordinal);
  if (!all.usable) [[unlikely]] {
    const std::string why_not = all.look();
    if (!why_not.empty()) fail("cuda", {"no CUDA device can be used: ", why_not});
  }
  if (ordinal < 0 || std::size_t(ordinal) >= all.devices.size())
    fail("cuda", {"there is no device cuda:", ordinal, "; there are ", int(all.devices.size())});
  DeviceState& state = *all.devices[std::size_t(ordinal)];
  std::call_once(all.opened[std::size_t(ordinal)], [&] { open_device(state, ordinal); });
  TERN_CUDA(cuCtxSetCurrent, state.context);
  bound_ordinal = ordinal;
  return state;
}

}  // namespace detail

/// True if there is a device that can be used.
inline bool is_available() { return detail::system().usable || detail::system().look().empty(); }
/// Why is_available() is false, in a sentence; empty if it is true.
inline std::string why_not() { return detail::system().look(); }
inline int device_count() { return is_available() ? int(detail::system().devices.size()) : 0; }
/// The device that this thread makes new tensors on.
inline int current_device() { return detail::current_ordinal; }

[[gnu::noinline, gnu::cold]] inline DeviceInfo device_info(int ordinal = current_device()) {
  const detail::DeviceState& state = detail::bind(ordinal);
  int device;
  char name[256] = {};
  std::size_t bytes = 0;
  TERN_CUDA(cuDeviceGet, &device, ordinal);
  TERN_CUDA(cuDeviceGetName, name, int(sizeof name), device);
  TERN_CUDA(cuDeviceTotalMem_v2, &bytes, device);
  const int version = detail::system().version;
  return {name, state.major, state.minor, state.multiprocessors, bytes,
          text({version / 1000, ".", version % 1000 / 10})};
}

}  // namespace cuda
}  // namespace tern
