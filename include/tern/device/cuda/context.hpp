// The CUDA devices, their properties, and the stream that each thread uses on a device.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "block_cache.hpp"
#include "failure.hpp"

namespace tern { inline namespace TERN_BUILD {

/// A CUDA device, by number.
struct Cuda {
  int ordinal = 0;
  bool operator==(const Cuda&) const = default;
};

namespace cuda {

/// A device's properties.
struct DeviceInfo {
  std::string name;
  int major, minor;  // compute capability
  int multiprocessors;
  std::size_t memory_bytes;
  std::string driver_version;
};

namespace detail {

struct PooledStream;
struct StreamPool;

/// An open device, as a thread sees it. Its streams do not synchronise with the legacy stream.
struct DeviceState {
  Context context = nullptr;
  StreamHandle compute = nullptr, copy = nullptr;  // copy: for transfers that overlap with the other work
  MemoryPool pool = nullptr;
  Failure* failure = nullptr;
  StreamPool* streams = nullptr;
  BlockCache* blocks = nullptr;
  int major = 0, minor = 0, multiprocessors = 0;
};

/// The state of the driver. Once it is usable, nothing in it changes. Until then, each look() tries again.
struct TERN_API System {
  std::atomic<bool> usable{false};
  int version = 0;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::vector<std::once_flag> opened;
  std::vector<std::once_flag>
      peers;  // of each pair of devices, whether they have been asked to reach each other's memory

  /// Why no device can be used; empty if one can be used.
  std::string look();

 private:
  std::mutex mutex_;
};
TERN_API System& system();

extern TERN_API constinit thread_local int current_ordinal;

/// A stream that a thread uses on a device instead of the device's own.
struct ChosenStream {
  int ordinal;
  PooledStream* stream;  // null: the device's own
  ChosenStream* outer;
};
/// The innermost choice of this thread; null: none.
extern TERN_API constinit thread_local ChosenStream* chosen_streams;
/// This thread's choice for a device; null: none.
TERN_API const ChosenStream* chosen_stream(int ordinal);

/// Releases what opening a device has made so far, unless opening succeeds.
struct TERN_API OpenGuard {
  DeviceState& state;
  int device;
  bool complete = false;
  ~OpenGuard();
};

TERN_API void open_device(DeviceState& state, int ordinal);

/// An event that is destroyed at the end of its scope.
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

/// A stream that programs take.
struct TERN_API PooledStream {
  DeviceState state;              // the device as a thread sees it that uses the stream
  ScopedEvent reached;            // recorded where other work waits for the stream
  std::atomic<int> guards{0};     // that use it now
  std::atomic<bool> used{false};  // since a release has waited for it

  PooledStream() {}
  PooledStream(const PooledStream&) = delete;
  PooledStream& operator=(const PooledStream&) = delete;
  ~PooledStream() {
    if (state.compute) TERN_CUDA_RELEASE(cuStreamDestroy_v2, state.compute);
  }
};

/// A device's streams other than its own and the one for copies. Never destroyed.
struct StreamPool {
  static constexpr int most = 32;

  std::mutex mutex;
  std::atomic<int> count{0};
  PooledStream* streams[most] = {};
  int next = 0;
  PooledStream* release = nullptr;  // runs nothing but releases
};

/// Records the event on the stream. If recording fails, it waits for the stream's work, because nothing could wait for
/// it later.
TERN_API void record_or_wait(Event event, StreamHandle stream);

/// The context that is current in this thread; null for none. Asked each time, since other code may change it.
TERN_API Context current_context();

/// Makes the context of an open device current in this thread. For destructors, which cannot throw.
TERN_API DeviceState& bind_for_release(int ordinal);

/// Opens the device if necessary and makes its context current in this thread. Error if the device cannot be used, or
/// if an earlier release has failed.
TERN_API DeviceState& bind(int ordinal);

}  // namespace detail

/// True if at least one device can be used.
inline bool is_available() { return detail::system().usable || detail::system().look().empty(); }
/// The reason why is_available() is false, as a sentence; empty if it is true.
inline std::string why_not() { return detail::system().look(); }
inline int device_count() { return is_available() ? int(detail::system().devices.size()) : 0; }
/// The device that this thread makes new tensors on.
inline int current_device() { return detail::current_ordinal; }

TERN_API DeviceInfo device_info(int ordinal = current_device());
inline std::string get_device_name(int ordinal = current_device()) { return device_info(ordinal).name; }

}  // namespace cuda
}}  // namespace tern

#ifndef TERN_COMPILED
#include "context.ipp"
#endif
