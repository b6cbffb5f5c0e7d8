// Host memory from a caching allocator with 64-byte alignment. Fresh pages cost more time than many kernels, so freed
// blocks are kept by size class: small ones in lists of each thread, large ones in one pool. The caller remembers the
// size class, so blocks have no header.
#pragma once
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// Bytes of a device's memory: in use now, the peak of that, and cached for reuse.
struct MemoryStats {
  Index current;
  Index peak;
  Index cached;
};

/// Frees memory that did not come from the host allocator.
using Deleter = void (*)(void* memory, void* context);
}  // namespace detail

/// Device memory with its deleter.
struct DeviceMemory {
  void* data;
  detail::Deleter deleter;
  void* context;
};

namespace detail::memory {

#if defined(TERN_SEPARATE_BLOCKS)
inline constexpr bool separate_blocks = true;
#else
/// True with the macro TERN_SEPARATE_BLOCKS: each block is an allocation of its own, of just the bytes that it is for,
/// and none is kept. So an address sanitizer sees an access past its end or after its release.
inline constexpr bool separate_blocks = false;
#endif

// Classes 0..15 hold 64..1024 bytes in steps of 64; above, each power of two has four classes.
inline constexpr int linear_classes = 16;
inline constexpr int local_classes = linear_classes + 4 * 6;  // up to 64 KB: kept in the thread's own lists
inline constexpr int class_count = linear_classes + 4 * 32;   // up to 4 TB
inline constexpr std::size_t slab_bytes = std::size_t(1) << 20;

/// The smallest class that holds that many bytes.
TERN_API int class_of(std::size_t bytes);
constexpr std::size_t class_bytes(int c) {
  if (c < linear_classes) return std::size_t(c + 1) << 6;
  const int step = c - linear_classes, exponent = 10 + step / 4;
  return (std::size_t(1) << exponent) + (std::size_t(step % 4 + 1) << (exponent - 2));
}

struct FreeBlock {
  FreeBlock* next;   // the next block of its list
  FreeBlock* batch;  // the next list in the pool
};

/// A thread's lists. Trivially destructible and constant-initialised, so that access needs no guard.
struct LocalLists {
  struct List {
    FreeBlock* head;
    std::uint32_t length;
  } lists[local_classes];
  char* slab;
  char* slab_end;
  bool registered;
};
extern TERN_API constinit thread_local LocalLists local;

struct Pool {
  std::mutex mutex;
  FreeBlock* batches[class_count] = {};
  Index small_reserved = 0;  // bytes of slabs and small blocks, handed out or kept by a thread
  Index large_in_use = 0, large_cached = 0, peak = 0;
};
/// Never destroyed, because tensors may outlive main's statics.
TERN_API Pool& pool();

/// How many blocks of a class a thread may keep. Then half of them go to the pool.
constexpr std::uint32_t local_limit(int c) {
  const std::size_t count = 2 * 65536 / class_bytes(c);
  return count < 8 ? 8 : std::uint32_t(count);
}

/// Returns a finished thread's lists to the pool.
struct TERN_API ThreadEnd {
  ~ThreadEnd();
};

/// Call it before this thread keeps its first block.
TERN_API void register_thread();

/// Returns all large blocks that are not in use to the system.
TERN_API void release_cached();

TERN_API detail::MemoryStats stats();

/// Resets the peak to the memory that is in use now.
TERN_API void reset_peak();

/// How much memory the machine has.
TERN_API std::size_t machine_bytes();

/// Memory from the system. If there is none, it releases the cached blocks and tries once more. Error if that fails
/// too, or if the machine has less: Linux may give what it does not have, and end the program that writes there.
TERN_API void* from_system(std::size_t bytes);

TERN_API void* allocate_slow(int c);

/// Moves half of a thread's full list to the pool. This bounds the memory that a loader's thread allocates and the
/// training thread frees.
TERN_API void spill(int c);

TERN_API void deallocate_large(void* memory, int c);

/// A block of class c, aligned to 64 bytes, not initialised.
TERN_API void* allocate(int c);

TERN_API void* allocate_separate(int c, std::size_t bytes);

/// A block of class c of which only that many bytes will be used.
inline void* allocate(int c, [[maybe_unused]] std::size_t bytes) {
  if constexpr (separate_blocks) return allocate_separate(c, bytes);
  else return allocate(c);
}

/// Memory and its class.
struct Block {
  void* data;
  int size_class;
};

/// At least that many bytes. Instead of a large block from the system it may be a cached one of up to twice the size,
/// whose memory the process has already.
TERN_API Block allocate_bytes(std::size_t bytes);

TERN_API void deallocate(void* memory, int c);

}  // namespace detail::memory
}}  // namespace tern

#ifndef TERN_COMPILED
#include "memory.ipp"
#endif
