// What a thread does differently while it captures a graph, or calculates the numbers for a replay. This header holds
// only the interface; graph.hpp implements it, so that a program without graphs compiles none of it.
#pragma once
#include <string>

#include "../capture.hpp"
#include "api.hpp"

namespace tern::inline TERN_BUILD::cuda {

/// A grid: the number of blocks, and of threads in each.
struct Grid {
  Index blocks;
  int threads = 256;
};

namespace detail {

struct DeviceState;

/// Device memory, and the tag that its release needs: see owner_of.
struct DeviceBlock {
  DevicePointer memory;
  std::uintptr_t tag;
};

/// The kernel's words 1 and 2 are the seed and the stream of random numbers.
inline constexpr int random_words = -1;

/// A launch whose words differ in each replay. They are a stream of random numbers, or an optimiser's numbers.
struct LiveLaunch {
  int ordinal;
  std::uint64_t key;
  const char* name;
  Grid grid;
  const std::uint64_t* words;
  int count;       // of all words
  int numbers_at;  // index of the first of an optimiser's numbers, or random_words
};

class Capture : public tern::detail::Capture {
 public:
  /// The device as this thread sees it: work goes to the stream that is captured.
  virtual DeviceState& bind(int ordinal) = 0;
  virtual DeviceBlock allocate(std::size_t bytes) = 0;
  virtual void launch(const LiveLaunch& launch, const std::string& source) = 0;

 protected:
  ~Capture() = default;
};
extern TERN_API constinit thread_local Capture* capture;
/// Starts a capture on this thread; null ends it.
inline void set_capture(Capture* begun) { tern::detail::capture = capture = begun; }

using tern::detail::host_is_read;
using tern::detail::host_waits;
using tern::detail::refuse_capture;

/// Takes back memory in place of the driver.
class MemoryOwner {
 public:
  virtual void give_back(DeviceBlock block) = 0;

 protected:
  ~MemoryOwner() = default;
};

/// The owner for all graphs: memory that they may still use is not freed before them.
extern TERN_API constinit std::atomic<MemoryOwner*> live_graphs;

// A tag is a pointer to a MemoryOwner with its lowest bit set, or 512 times the memory's age plus twice the ordinal of
// its device.

/// The number of captures begun and ended so far. Memory with a smaller age was allocated before.
extern TERN_API constinit std::atomic<std::uint64_t> memory_age;
/// Memory with a smaller age is kept for graphs. 0: none is.
extern TERN_API constinit std::atomic<std::uint64_t> held_age;

inline std::uintptr_t new_tag(int ordinal) { return memory_age.load(std::memory_order_relaxed) << 9 | std::uintptr_t(ordinal) << 1; }
inline std::uintptr_t tag_of(MemoryOwner* owner) { return reinterpret_cast<std::uintptr_t>(owner) | 1; }
inline int ordinal_of(std::uintptr_t tag) { return int(tag >> 1 & 255); }
/// Null if the driver takes the memory back.
inline MemoryOwner* owner_of(std::uintptr_t tag) {
  if (tag & 1) return reinterpret_cast<MemoryOwner*>(tag - 1);
  return tag >> 9 < held_age.load(std::memory_order_acquire) ? live_graphs.load() : nullptr;
}

}  // namespace detail
}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "capture.ipp"
#endif
