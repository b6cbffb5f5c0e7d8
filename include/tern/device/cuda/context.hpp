// Which CUDA devices there are, what they can do, and the stream that a thread's work on one goes to.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "failure.hpp"

namespace tern {

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

/// What is known of the driver from the first look at it.
struct System {
  std::string problem;  // why no device can be used; empty if one can
  int version = 0;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::vector<std::once_flag> opened;

  System() {
    const auto& cu = driver().functions;
    int count = 0;
    if (!driver().library.problem.empty()) {
      problem = "NVIDIA's driver library cannot be used: " + driver().library.problem;
    } else if (const Status status = cu.cuInit(0)) {
      const char* name = "unknown status";
      cu.cuGetErrorName(status, &name);
      problem = std::string("the driver does not start: cuInit: ") + name;
    } else if (cu.cuDriverGetVersion(&version) || version < 12000) {
      problem = text({"the driver is too old: it offers CUDA ", version / 1000, ".", version % 1000 / 10, ", and tern needs 12.0"});
    } else if (cu.cuDeviceGetCount(&count) || count == 0) {
      problem = "the driver knows no device";
    }
    if (problem.empty())
      for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<DeviceState>());
    opened = std::vector<std::once_flag>(devices.size());
  }
};
inline System& system() {
  static System& instance = *new System;
  return instance;
}

inline constinit thread_local int current_ordinal = 0;
inline constinit thread_local int bound_ordinal = -1;  // whose context the driver has for this thread

[[gnu::noinline, gnu::cold]] inline void open_device(DeviceState& state, int ordinal) {
  int device;
  TERN_CUDA(cuDeviceGet, &device, ordinal);
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
}

/// An event that ends with its scope.
struct ScopedEvent {
  Event event = nullptr;
  ScopedEvent() { TERN_CUDA(cuEventCreate, &event, event_disable_timing); }
  ~ScopedEvent() { driver().functions.cuEventDestroy_v2(event); }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;
};

/// The device, opened, its context bound to this thread. Error if it cannot be used.
[[gnu::noinline]] inline DeviceState& bind(int ordinal) {
  System& all = system();
  if (!all.problem.empty()) fail("cuda", {"no CUDA device can be used: ", all.problem});
  if (ordinal < 0 || std::size_t(ordinal) >= all.devices.size())
    fail("cuda", {"there is no device cuda:", ordinal, "; there are ", int(all.devices.size())});
  DeviceState& state = *all.devices[std::size_t(ordinal)];
  std::call_once(all.opened[std::size_t(ordinal)], [&] { open_device(state, ordinal); });
  if (bound_ordinal != ordinal) {
    TERN_CUDA(cuCtxSetCurrent, state.context);
    bound_ordinal = ordinal;
  }
  return state;
}

}  // namespace detail

/// True if there is a device that can be used.
inline bool is_available() { return detail::system().problem.empty(); }
/// Why is_available() is false, in a sentence; empty if it is true.
inline std::string why_not() { return detail::system().problem; }
inline int device_count() { return int(detail::system().devices.size()); }
/// The device that this thread makes new tensors on.
inline int current_device() { return detail::current_ordinal; }

[[gnu::noinline, gnu::cold]] inline DeviceInfo device_info(int ordinal = 0) {
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

/// While alive, this thread makes new tensors on another device.
class DeviceGuard {
 public:
  explicit DeviceGuard(Cuda device) : outer_(detail::current_ordinal) {
    detail::bind(device.ordinal);
    detail::current_ordinal = device.ordinal;
  }
  ~DeviceGuard() { detail::current_ordinal = outer_; }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int outer_;
};

}  // namespace cuda
}  // namespace tern
