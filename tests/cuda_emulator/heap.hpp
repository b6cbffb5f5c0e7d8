// Device and pinned memory: where allocations lie, and how the emulator itself reaches them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "mailbox.hpp"
#include "state.hpp"

namespace emulator {

struct Allocation {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::uintptr_t first_page = 0;
  std::size_t page_bytes = 0;
  Context* context = nullptr;
  bool stream_ordered = false;
  bool live = true;     // the stream has reached its allocation, and not its release
  bool doomed = false;  // a release has been queued
  unsigned flags = 0;   // of pinned memory
};

/// A range of addresses behind one memory file. An allocation ends at a guard page, aligned to 256 bytes; addresses are
/// reused only when the range is exhausted.
class Heap {
 public:
  Heap(const char* name, std::uintptr_t base, std::size_t range);

  int file() const { return file_; }
  bool contains(std::uintptr_t address) const { return address - base_ < range_; }
  /// A place for `bytes`, recorded and not yet accessible.
  Allocation& reserve(std::size_t bytes, Context* context);
  /// The allocation with this address inside; null if none.
  Allocation* find(std::uintptr_t address);
  /// The allocation that holds the whole range.
  Allocation* find(std::uintptr_t address, std::size_t bytes);
  /// Where an address lies that is in no allocation: how far from the nearest before it and behind it.
  std::string place_of(std::uintptr_t address) const;
  void fill_with_poison(const Allocation& allocation);
  /// True if the bytes behind its end are still poison.
  bool tail_is_intact(const Allocation& allocation) const;
  /// Forgets an allocation and gives its pages back.
  void remove(std::uintptr_t address);
  void clear();
  /// The emulator's own, always accessible view of an address.
  char* view(std::uintptr_t address) const { return alias_ + (address - base_); }
  std::map<std::uintptr_t, Allocation>& allocations() { return allocations_; }

 private:
  std::uintptr_t base_;
  std::size_t range_;
  int file_;
  char* alias_;
  std::uintptr_t next_;
  std::map<std::uintptr_t, Allocation> allocations_;
};

Heap& device_heap();
Heap& pinned_heap();

/// How the emulator reaches `bytes` of an operand of queued work: device memory that is live, or host memory. Null,
/// after fault(), where it must not.
char* reach(std::uintptr_t address, std::size_t bytes, const char* what);

/// Releases device memory: checks its end, forgets it. Returns a CUresult.
int drop_device_memory(std::uintptr_t address);
/// Makes reserved device memory accessible to kernels, poisoned.
int open_device_memory(Allocation& allocation);

}  // namespace emulator
