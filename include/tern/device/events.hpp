// Counters of the devices' work, which profile/ reads. They lie below the backends, so the backends need not know who
// reads them.
#pragma once
#include <atomic>
#include <cstddef>

#include "../core/here.hpp"

namespace tern::inline TERN_BUILD {

/// The kinds of work of a device, and the host's waits for it. A collective exchanges tensors with other ranks, and may be in host memory.
enum class Work : std::uint8_t { kernel, to_device, to_host, wait, collective };

/// The phase of a training step that work belongs to. A captured step is one.
enum class Phase : std::uint8_t { input, forward, backward, optimizer, captured, other };

/// Is told when layers and pieces of a device's work begin and end in the calling thread.
struct RangeListener {
  void (*begin)(const char* name);
  void (*end)();
};

namespace detail {

/// Null if nobody wants to know.
extern TERN_API constinit std::atomic<const RangeListener*> range_listener;

/// A layer's call or a piece of work, from construction to the end of the scope.
class Range {
 public:
  explicit Range(const char* name) : listener_(range_listener.load(std::memory_order_relaxed)) {
    if (listener_) [[unlikely]] listener_->begin(name);
  }
  ~Range() {
    if (listener_) [[unlikely]] listener_->end();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const RangeListener* listener_;
};

/// This thread's totals.
struct DeviceEvents {
  double flops = 0;              // of matrix products and convolutions
  std::int64_t products = 0;     // how many these were
  std::int64_t count[5] = {};    // by kind of work
  std::int64_t bytes[5] = {};
  double host_seconds[5] = {};   // of the thread in the call, by kind; only copies and waits that are not part of another
  int open = 0;                  // copies and waits that have begun and not ended
  Phase phase = Phase::other;       // what the thread is at
};
extern TERN_API constinit thread_local DeviceEvents device_events;

/// Adds products that this thread has started, and the operations of all of them.
inline void count_products(std::int64_t products, double flops) { device_events.products += products, device_events.flops += flops; }

/// The calling thread's number, in the order in which threads ask for theirs; from 1.
TERN_API int thread_number();

}  // namespace detail
}  // namespace tern

#ifndef TERN_COMPILED
#include "events.ipp"
#endif
