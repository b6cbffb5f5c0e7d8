// What a thread does differently while it captures a graph, or calculates the numbers for a replay. This header holds
// only the interface; graph.hpp implements it, so that a program without graphs compiles none of it.
#pragma once
#include <string>

#include "../capture.hpp"
#include "../memory.hpp"
#include "api.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// A grid: the number of blocks, and in each of threads, and of bytes of shared memory beside what the kernel declares.
struct Grid {
  Index blocks;
  int threads = 256;
  int shared_bytes = 0;
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

class CudaCapture : public tern::detail::Capture {
 public:
  /// The device as this thread sees it: work goes to the stream that is captured.
  virtual DeviceState& bind(int ordinal) = 0;
  virtual DeviceBlock allocate(std::size_t bytes) = 0;
  /// The kernel takes Words (backend/cuda/codegen/source.hpp).
  virtual void launch(const LiveLaunch& launch, const std::string& source) = 0;

 protected:
  ~CudaCapture() = default;
};
extern TERN_API constinit thread_local CudaCapture* capture;
/// Starts a capture on this thread; null ends it.
inline void set_capture(CudaCapture* begun) { tern::detail::capture = capture = begun; }

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

// The size of a block, as a tag has it: one of few classes if it is small, else one of 128 for each power of two.

inline constexpr int small_sizes = tern::detail::memory::linear_classes + 4 * 12, size_bits = 13;
constexpr std::size_t largest_small = std::size_t(1) << 22;
inline int size_of_block(std::size_t bytes) {
  if (bytes <= largest_small) return tern::detail::memory::class_of(bytes);
  constexpr std::size_t most = std::size_t(1) << 62;  // no device has that much
  const std::size_t last = (bytes < most ? bytes : most) - 1;
  const int exponent = 63 - std::countl_zero(last);
  return small_sizes + 128 * (exponent - 22) + int(last >> (exponent - 7) & 127);
}
constexpr std::size_t bytes_of_size(int size) {
  if (size < small_sizes) return tern::detail::memory::class_bytes(size);
  const int step = size - small_sizes, exponent = 22 + step / 128;
  return (std::size_t(1) << exponent) + (std::size_t(step % 128 + 1) << (exponent - 7));
}

// A tag is a pointer to a MemoryOwner with its lowest bit set, or, from the lowest bit on: 0, the ordinal of the
// memory's device, its size, its age.

/// The number of captures begun and ended so far. Memory with a smaller age was allocated before.
extern TERN_API constinit std::atomic<std::uint64_t> memory_age;
/// Memory with a smaller age is kept for graphs. 0: none is.
extern TERN_API constinit std::atomic<std::uint64_t> held_age;

inline std::uintptr_t new_tag(int ordinal, int size, std::uint64_t age = memory_age.load(std::memory_order_relaxed)) {
  return age << (9 + size_bits) | std::uintptr_t(size) << 9 | std::uintptr_t(ordinal) << 1;
}
inline std::uintptr_t tag_of(MemoryOwner* owner) { return reinterpret_cast<std::uintptr_t>(owner) | 1; }
inline int ordinal_of(std::uintptr_t tag) { return int(tag >> 1 & 255); }
inline int size_of(std::uintptr_t tag) { return int(tag >> 9 & ((1 << size_bits) - 1)); }
inline std::uint64_t age_of(std::uintptr_t tag) { return tag >> (9 + size_bits); }
/// Null if the driver takes the memory back.
inline MemoryOwner* owner_of(std::uintptr_t tag) {
  if (tag & 1) return reinterpret_cast<MemoryOwner*>(tag - 1);
  return age_of(tag) < held_age.load(std::memory_order_acquire) ? live_graphs.load() : nullptr;
}

}  // namespace detail
}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "capture.ipp"
#endif
