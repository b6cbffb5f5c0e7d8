// What the library asks of a thread that captures a device's work in a graph, whichever device it is: does it, and what of an
// optimiser's step is wanted then. The device's own class answers.
#pragma once
#include <atomic>

#include "../core/error.hpp"
#include "../core/here.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A capture under way on a thread, or the numbers of a replay being worked out.
class Capture {
 public:
  /// The last launch is that of an item of an object, an optimiser: again(object, item) launches it with new numbers.
  virtual void repeat(void* object, void (*again)(void* object, Index item), Index item) = 0;
  /// True if nothing runs or is captured, and launches only tell their numbers.
  virtual bool is_replay() const = 0;

 protected:
  ~Capture() = default;
};
/// Null: the thread does not capture.
extern TERN_API constinit thread_local Capture* capture;

/// The graphs that exist.
class CapturedGraphs {
 public:
  /// An object that a graph repeats, an optimiser, is gone or has other parameters.
  virtual void forget(const void* object) = 0;

 protected:
  ~CapturedGraphs() = default;
};
/// Null while there has been no graph.
extern TERN_API constinit std::atomic<CapturedGraphs*> captured_graphs;

/// The rules that refusals give.
inline constexpr const char* host_waits = "the host waits for the device; item(), cpu() and printing belong behind replay()";
inline constexpr const char* host_is_read =
    "every replay would copy from the same host memory; overwrite a tensor of the device with copy_() before";

[[noreturn]] TERN_API void refuse_captured(const char* op, const char* rule);
/// Error naming the op, if the thread captures.
inline void refuse_capture(const char* op, const char* rule) {
  if (capture) [[unlikely]] refuse_captured(op, rule);
}

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "capture.ipp"
#endif
