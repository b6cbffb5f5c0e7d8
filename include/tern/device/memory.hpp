// Host memory: a caching, 64-byte-aligned allocator. Fresh pages cost more than many kernels, so freed blocks are kept by size
// class: small ones in lists of the thread, large ones in one pool. The caller remembers the class, so blocks carry no header.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "../core/error.hpp"

namespace tern::inline TERN_BUILD {

/// Bytes of a device's memory: in use now, the most in use so far, and kept for reuse.
struct MemoryStats {
  Index current;
  Index peak;
  Index cached;
};

/// Frees memory that did not come from the host allocator.
using Deleter = void (*)(void* memory, void* context);

/// Memory of a device, and how it is given back.
struct DeviceMemory {
  void* data;
  Deleter deleter;
  void* context;
};

namespace memory {

// Classes 0..15 hold 64..1024 bytes by 64; then four to each power of two.
inline constexpr int linear_classes = 16;
inline constexpr int local_classes = linear_classes + 4 * 6;  // up to 64 KB: kept in the thread's own lists
inline constexpr int class_count = linear_classes + 4 * 32;   // up to 4 TB
inline constexpr std::size_t slab_bytes = std::size_t(1) << 20;

/// The smallest class that holds so many bytes.
inline int class_of(std::size_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? 0 : int((bytes - 1) >> 6);
  const std::size_t last = bytes - 1;
  const int exponent = 63 - std::countl_zero(last);
  return linear_classes + 4 * (exponent - 10) + int(last >> (exponent - 2) & 3);
}
constexpr std::size_t class_bytes(int c) {
  if (c < linear_classes) return std::size_t(c + 1) << 6;
  const int step = c - linear_classes, exponent = 10 + step / 4;
  return (std::size_t(1) << exponent) + (std::size_t(step % 4 + 1) << (exponent - 2));
}

struct FreeBlock {
  FreeBlock* next;   // in its list
  FreeBlock* batch;  // the next list, in the pool
};

/// What a thread keeps. Trivially destructible and constant-initialised, so that access needs no guard.
struct LocalLists {
  struct List {
    FreeBlock* head;
    std::uint32_t length;
  } lists[local_classes];
  char* slab;
  char* slab_end;
  bool registered;
};
inline constinit thread_local LocalLists local{};

struct Pool {
  std::mutex mutex;
  FreeBlock* batches[class_count] = {};
  Index small_reserved = 0;  // slabs and small blocks, whether handed out or kept by a thread
  Index large_in_use = 0, large_cached = 0, peak = 0;
};
/// Never destroyed: tensors may outlive main's statics.
[[gnu::noinline, gnu::cold]] inline Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

/// Blocks of a class that a thread may keep before half of them go to the pool.
constexpr std::uint32_t local_limit(int c) {
  const std::size_t count = 2 * 65536 / class_bytes(c);
  return count < 8 ? 8 : std::uint32_t(count);
}

/// Gives a finished thread's lists to the pool.
struct ThreadEnd {
  ~ThreadEnd() {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    for (int c = 0; c < local_classes; ++c) {
      if (FreeBlock* head = local.lists[c].head) {
        head->batch = p.batches[c];
        p.batches[c] = head;
        local.lists[c] = {};
      }
    }
  }
};

/// Before this thread keeps its first block.
[[gnu::noinline, gnu::cold]] inline void register_thread() {
  static thread_local ThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
  local.registered = true;
}

/// Returns all large blocks that nobody uses to the system.
[[gnu::noinline, gnu::cold]] inline void release_cached() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (int c = local_classes; c < class_count; ++c) {
    while (FreeBlock* block = p.batches[c]) {
      p.batches[c] = block->batch;
      p.large_cached -= Index(class_bytes(c));
      std::free(block);
    }
  }
}

[[gnu::noinline, gnu::cold]] inline MemoryStats stats() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return {p.large_in_use + p.small_reserved, p.peak, p.large_cached};
}

/// Makes what is in use now the peak, from which on a larger one is looked for.
[[gnu::noinline, gnu::cold]] inline void reset_peak() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.peak = p.large_in_use + p.small_reserved;
}

/// Memory from the system; once more after giving back what is cached; Error if there is none.
[[gnu::noinline, gnu::cold]] inline void* from_system(std::size_t alignment, std::size_t bytes) {
  if (void* block = std::aligned_alloc(alignment, bytes)) return block;
  release_cached();
  if (void* block = std::aligned_alloc(alignment, bytes)) return block;
  const MemoryStats held = stats();
  fail("cpu memory", {"out of memory: ", Index(bytes), " bytes were asked for, ", held.current, " are in use and ",
                      held.cached, " were cached"});
}

[[gnu::noinline, gnu::cold]] inline void* allocate_slow(int c) {
  Pool& p = pool();
  const std::size_t bytes = class_bytes(c);
  if (c >= local_classes) {
    {
      const std::lock_guard lock(p.mutex);
      p.large_in_use += Index(bytes);
      if (p.large_in_use + p.small_reserved > p.peak) p.peak = p.large_in_use + p.small_reserved;
      if (FreeBlock* block = p.batches[c]) {
        p.batches[c] = block->batch;
        p.large_cached -= Index(bytes);
        return block;
      }
    }
    try {
      return from_system(64, bytes);
    } catch (...) {
      const std::lock_guard lock(p.mutex);
      p.large_in_use -= Index(bytes);
      throw;
    }
  }
  if (!local.registered) register_thread();
  {
    const std::lock_guard lock(p.mutex);
    if (FreeBlock* head = p.batches[c]) {
      p.batches[c] = head->batch;
      std::uint32_t length = 0;
      for (FreeBlock* block = head->next; block; block = block->next) ++length;
      local.lists[c] = {head->next, length};
      return head;
    }
  }
  const bool from_slab = c < linear_classes;
  if (from_slab && std::size_t(local.slab_end - local.slab) >= bytes) {
    void* block = local.slab;
    local.slab += bytes;
    return block;
  }
  const std::size_t reserve = from_slab ? slab_bytes : bytes;
  char* block = static_cast<char*>(from_system(64, reserve));
  {
    const std::lock_guard lock(p.mutex);
    p.small_reserved += Index(reserve);
  }
  if (from_slab) {
    local.slab = block + bytes;
    local.slab_end = block + reserve;
  }
  return block;
}

/// Half of a thread's full list goes to the pool: what a loader's thread allocates and the trainer frees stays bounded.
[[gnu::noinline, gnu::cold]] inline void spill(int c) {
  LocalLists::List& list = local.lists[c];
  const std::uint32_t half_length = list.length / 2;
  FreeBlock* const first = list.head;
  FreeBlock* last = first;
  for (std::uint32_t i = 1; i < half_length; ++i) last = last->next;
  list.head = last->next;
  list.length -= half_length;
  last->next = nullptr;
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  first->batch = p.batches[c];
  p.batches[c] = first;
}

[[gnu::noinline, gnu::cold]] inline void deallocate_large(void* memory, int c) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = nullptr;
  block->batch = p.batches[c];
  p.batches[c] = block;
  p.large_in_use -= Index(class_bytes(c));
  p.large_cached += Index(class_bytes(c));
}

/// A block of class c, aligned to 64 bytes, not initialised.
[[gnu::noinline]] inline void* allocate(int c) {
  if (c < local_classes) [[likely]] {
    LocalLists::List& list = local.lists[c];
    if (FreeBlock* block = list.head) [[likely]] {
      list.head = block->next;
      --list.length;
      return block;
    }
  }
  return allocate_slow(c);
}

[[gnu::noinline]] inline void deallocate(void* memory, int c) {
  if (c >= local_classes) return deallocate_large(memory, c);
  LocalLists::List& list = local.lists[c];
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = list.head;
  list.head = block;
  if (!block->next && !local.registered) [[unlikely]] register_thread();  // it frees what others allocated
  if (++list.length > local_limit(c)) [[unlikely]] spill(c);
}

}  // namespace memory
}  // namespace tern
