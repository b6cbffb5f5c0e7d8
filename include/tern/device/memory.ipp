// The functions of memory.hpp that are not templates.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include "memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::memory {

TERN_INLINE int class_of(std::size_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? 0 : int((bytes - 1) >> 6);
  const std::size_t last = bytes - 1;
  const int exponent = 63 - std::countl_zero(last);
  return linear_classes + 4 * (exponent - 10) + int(last >> (exponent - 2) & 3);
}

TERN_INLINE constinit thread_local LocalLists local{};

TERN_COLD Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

TERN_INLINE ThreadEnd::~ThreadEnd() {
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

TERN_COLD void register_thread() {
  static thread_local ThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
  local.registered = true;
}

TERN_COLD void release_cached() {
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

TERN_COLD detail::MemoryStats stats() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return {p.large_in_use + p.small_reserved, p.peak, p.large_cached};
}

TERN_COLD void reset_peak() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.peak = p.large_in_use + p.small_reserved;
}

/// The caller holds the lock.
TERN_INLINE void raise_peak(Pool& p) {
  if (p.large_in_use + p.small_reserved > p.peak) p.peak = p.large_in_use + p.small_reserved;
}

TERN_COLD std::size_t machine_bytes() {
  static const std::size_t bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Large blocks lie in pages of this size if the system has them: an address is translated with fewer reads of the page
/// table.
inline constexpr std::size_t huge_page = std::size_t(2) << 20;

TERN_COLD void* from_system(std::size_t bytes) {
  if (bytes <= machine_bytes()) {
    const bool in_huge_pages = bytes >= huge_page;
    const std::size_t alignment = in_huge_pages ? huge_page : 64;
    void* block = nullptr;
    int error = posix_memalign(&block, alignment, bytes);
    if (error) {
      release_cached();
      error = posix_memalign(&block, alignment, bytes);
    }
    if (in_huge_pages && !error) madvise(block, bytes, MADV_HUGEPAGE);
    if (!error) return block;
  }
  const detail::MemoryStats held = stats();
  Error::fail("cpu memory", {"out of memory: ", Index(bytes), " bytes were asked for, ", held.current,
                             " are in use and ", held.cached, " were cached"});
}

/// The caller holds the lock.
TERN_INLINE void count_large(Pool& p, int c) {
  p.large_in_use += Index(class_bytes(c));
  raise_peak(p);
}

/// A cached block of the first of classes c … last that has one; null if none has.
TERN_NOINLINE Block take_cached(int c, int last) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (; c <= last; ++c)
    if (FreeBlock* block = p.batches[c]) {
      p.batches[c] = block->batch;
      p.large_cached -= Index(class_bytes(c));
      count_large(p, c);
      return {block, c};
    }
  return {};
}

TERN_NOINLINE Block allocate_bytes(std::size_t bytes) {
  const int c = class_of(bytes), twice_as_large = c + 4;
  if (!separate_blocks && class_bytes(c) >= huge_page)
    if (const Block block = take_cached(c, std::min(twice_as_large, class_count - 1)); block.data) return block;
  return {allocate(c, bytes), c};
}

TERN_COLD void* allocate_slow(int c) {
  Pool& p = pool();
  const std::size_t bytes = class_bytes(c);
  if (c >= local_classes) {
    if (const Block block = take_cached(c, c); block.data) return block.data;
    void* const block = from_system(bytes);
    const std::lock_guard lock(p.mutex);
    count_large(p, c);
    return block;
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
  char* block = static_cast<char*>(from_system(reserve));
  {
    const std::lock_guard lock(p.mutex);
    p.small_reserved += Index(reserve);
    raise_peak(p);
  }
  if (from_slab) {
    local.slab = block + bytes;
    local.slab_end = block + reserve;
  }
  return block;
}

TERN_COLD void spill(int c) {
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

TERN_COLD void deallocate_large(void* memory, int c) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = nullptr;
  block->batch = p.batches[c];
  p.batches[c] = block;
  p.large_in_use -= Index(class_bytes(c));
  p.large_cached += Index(class_bytes(c));
}

TERN_COLD void* allocate_separate(int c, std::size_t bytes) {
  void* const block = from_system(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.large_in_use += Index(class_bytes(c));
  raise_peak(p);
  return block;
}

TERN_NOINLINE void* allocate(int c) {
  if constexpr (separate_blocks) return allocate_separate(c, class_bytes(c));
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

TERN_NOINLINE void deallocate(void* memory, int c) {
  if constexpr (separate_blocks) {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    p.large_in_use -= Index(class_bytes(c));
    return std::free(memory);
  }
  if (c >= local_classes) return deallocate_large(memory, c);
  LocalLists::List& list = local.lists[c];
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = list.head;
  list.head = block;
  if (!block->next && !local.registered) [[unlikely]]
    register_thread();  // it frees blocks that other threads allocated
  if (++list.length > local_limit(c)) [[unlikely]]
    spill(c);
}

}}}  // namespace tern::detail::memory
