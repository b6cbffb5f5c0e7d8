// What the library asks a thread that captures a device's work in a graph. The device's own class answers, so this
// header names no device.
#pragma once
#include <atomic>

#include "../core/error.hpp"
#include "../core/call_site.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A capture on this thread, or the calculation of the numbers for a replay.
class Capture {
 public:
  /// Says that the launches from here on belong to items of an object (an optimiser), which repeat() names.
  virtual void begin_repeated() = 0;
  /// Says that no more launches belong to the items. Before each replay, again(object, items, count) launches them with
  /// new numbers.
  virtual void repeat(void* object, void (*again)(void* object, const Index* items, Index count), const Index* items,
                      Index count) = 0;
  /// True if launches only deliver their numbers: nothing runs, and nothing is captured.
  virtual bool is_replay() const = 0;

 protected:
  ~Capture() = default;
};
/// Null if the thread does not capture.
extern TERN_API constinit thread_local Capture* capture;

/// All graphs.
class CapturedGraphs {
 public:
  /// Says that an object that a graph repeats (an optimiser) is gone or has other parameters.
  virtual void forget(const void* object) = 0;

 protected:
  ~CapturedGraphs() = default;
};
/// Null until the first graph is made.
extern TERN_API constinit std::atomic<CapturedGraphs*> captured_graphs;

/// Reasons that the errors of refuse_capture give.
inline constexpr const char* host_waits =
    "the host waits for the device; use item(), cpu() and printing after replay()";
inline constexpr const char* host_is_read =
    "every replay would copy from the same host memory; overwrite a tensor of the device with copy_() before";

[[noreturn]] TERN_API void refuse_captured(const char* op, const char* rule);
/// Throws an Error that names the op if the thread captures.
inline void refuse_capture(const char* op, const char* rule) {
  if (capture) [[unlikely]]
    refuse_captured(op, rule);
}

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "capture.ipp"
#endif
