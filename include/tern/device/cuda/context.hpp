// Which CUDA devices there are, what they can do, and the stream that a thread's work on one goes to.
#pragma once
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
struct TERN_API System {
  std::atomic<bool> usable{false};
  int version = 0;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::vector<std::once_flag> opened;

  /// Why no device can be used; empty if one can.
  std::string look();

 private:
  std::mutex mutex_;
};
TERN_API System& system();

extern TERN_API constinit thread_local int current_ordinal;
extern TERN_API constinit thread_local int bound_ordinal;  // whose context the driver has for this thread

/// Gives back what a device was opened with, if it was not opened to the end.
struct TERN_API Opening {
  DeviceState& state;
  int device;
  bool complete = false;
  ~Opening();
};

TERN_API void open_device(DeviceState& state, int ordinal);

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
TERN_API void record_or_wait(Event event, Stream stream);

/// Binds the context of an open device to this thread; for destructors, which have nobody to throw to.
TERN_API DeviceState& bind_for_release(int ordinal);

/// The device, opened, its context bound to this thread. Error if it cannot be used, or if an earlier release has failed.
TERN_API DeviceState& bind(int ordinal);

}  // namespace detail

/// True if there is a device that can be used.
inline bool is_available() { return detail::system().usable || detail::system().look().empty(); }
/// Why is_available() is false, in a sentence; empty if it is true.
inline std::string why_not() { return detail::system().look(); }
inline int device_count() { return is_available() ? int(detail::system().devices.size()) : 0; }
/// The device that this thread makes new tensors on.
inline int current_device() { return detail::current_ordinal; }

TERN_API DeviceInfo device_info(int ordinal = current_device());

}  // namespace cuda
}  // namespace tern

#ifndef TERN_COMPILED
#include "context.ipp"
#endif
