// What a thread does otherwise while it captures a graph, or works out the numbers of a replay. Here is only what the rest of the
// library asks; graph.hpp answers, so that a program without graphs compiles none of it.
#pragma once
#include <string>

#include "../capture.hpp"
#include "api.hpp"

namespace tern::inline TERN_BUILD::cuda {

/// Blocks, and threads in each.
struct Grid {
  Index blocks;
  int threads = 256;
};

namespace detail {

struct DeviceState;

/// Memory of a device, and what its release must know: see owner_tag.
struct DeviceBlock {
  DevicePointer memory;
  std::uintptr_t tag;
};

/// Words 1 and 2 of a kernel are seed and stream of random numbers.
inline constexpr int random_words = -1;

/// A launch whose words are others in each replay: a position in the sequence of random numbers, or an optimiser's numbers.
struct LiveLaunch {
  int ordinal;
  std::uint64_t key;
  const char* name;
  Grid grid;
  const std::uint64_t* words;
  int count;       // of words
  int numbers_at;  // the words from here on are an optimiser's numbers; or random_words
};

class Capture : public tern::detail::Capture {
 public:
  /// The device as this thread sees it: its work goes to the stream that is captured.
  virtual DeviceState& bind(int ordinal) = 0;
  virtual DeviceBlock allocate(std::size_t bytes) = 0;
  virtual void launch(const LiveLaunch& launch, const std::string& source) = 0;

 protected:
  ~Capture() = default;
};
extern TERN_API constinit thread_local Capture* capture;
/// From here on the thread captures; null: no more.
inline void set_capture(Capture* begun) { tern::detail::capture = capture = begun; }

using tern::detail::host_is_read;
using tern::detail::host_waits;
using tern::detail::refuse_capture;

/// What memory is given back to instead of the driver.
class MemoryOwner {
 public:
  virtual void give_back(DeviceBlock block) = 0;

 protected:
  ~MemoryOwner() = default;
};

/// Of the graphs that exist: what they may still use is not freed before them.
extern TERN_API constinit std::atomic<MemoryOwner*> live_graphs;

// A tag is a MemoryOwner, whose lowest bit is set; or 512 times the memory's age and twice the ordinal of its device.

/// Counts captures begun and ended: memory of before then is older.
extern TERN_API constinit std::atomic<std::uint64_t> memory_age;
/// What is older is held for graphs; 0: nothing.
extern TERN_API constinit std::atomic<std::uint64_t> held_age;

inline std::uintptr_t new_tag(int ordinal) { return memory_age.load(std::memory_order_relaxed) << 9 | std::uintptr_t(ordinal) << 1; }
inline std::uintptr_t tag_of(MemoryOwner* owner) { return reinterpret_cast<std::uintptr_t>(owner) | 1; }
inline int ordinal_of(std::uintptr_t tag) { return int(tag >> 1 & 255); }
/// Null: the driver.
inline MemoryOwner* owner_of(std::uintptr_t tag) {
  if (tag & 1) return reinterpret_cast<MemoryOwner*>(tag - 1);
  return tag >> 9 < held_age.load(std::memory_order_acquire) ? live_graphs.load() : nullptr;
}

}  // namespace detail
}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "capture.ipp"
#endif
