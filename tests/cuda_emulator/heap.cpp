#include "heap.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "call.hpp"

namespace emulator {

namespace {

constexpr std::size_t page_size = 4096, alignment = 256;

// Both ranges at once, before any other large mapping could come to lie there.
void reserve_addresses() {
  static const bool done = [] {
    void* wanted = reinterpret_cast<void*>(device_base);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(wanted, pinned_base + pinned_range - device_base, PROT_NONE, flags, -1, 0) == wanted) return true;
    std::perror("[cuda emulator] the addresses of device memory");
    std::abort();
  }();
  static_cast<void>(done);
}

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Heap::Heap(const char* name, std::uintptr_t base, std::size_t range)
    : base_(base), range_(range), file_(memfd_create(name, MFD_CLOEXEC)), next_(base + page_size) {
  reserve_addresses();
  constexpr int flags = MAP_SHARED | MAP_NORESERVE;
  void* wanted = reinterpret_cast<void*>(base);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(range)) ||
      mmap(wanted, range, PROT_NONE, flags | MAP_FIXED, file_, 0) != wanted) {
    std::perror("[cuda emulator] device memory");
    std::abort();
  }
  void* alias = mmap(nullptr, range, PROT_READ | PROT_WRITE, flags, file_, 0);
  if (alias == MAP_FAILED) std::abort();
  alias_ = static_cast<char*>(alias);
  madvise(wanted, range, MADV_DONTDUMP);
  madvise(alias, range, MADV_DONTDUMP);
}

Allocation& Heap::reserve(std::size_t bytes, Context* context) {
  const std::size_t room = round_up(bytes, alignment), pages = round_up(room, page_size);
  for (bool wrapped = false;;) {
    if (next_ + pages + page_size > base_ + range_) {
      if (wrapped) std::abort();  // the limit on device memory is far below the range
      wrapped = true;
      next_ = base_ + page_size;
    }
    // What lies in the way, after a wrap.
    const auto above = allocations_.lower_bound(next_ + pages + page_size);
    if (above == allocations_.begin()) break;
    const Allocation& below = std::prev(above)->second;
    const std::uintptr_t end = below.first_page + below.page_bytes + page_size;
    if (end <= next_) break;
    next_ = end;
  }
  Allocation a;
  a.first_page = next_;
  a.page_bytes = pages;
  a.address = next_ + pages - room;
  a.bytes = bytes;
  a.context = context;
  next_ += pages + page_size;
  return allocations_[a.address] = a;
}

Allocation* Heap::find(std::uintptr_t address) { return find(address, 1); }

Allocation* Heap::find(std::uintptr_t address, std::size_t bytes) {
  const auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return nullptr;
  Allocation& a = std::prev(above)->second;
  return address + bytes <= a.address + a.bytes ? &a : nullptr;
}

std::string Heap::place_of(std::uintptr_t address) const {
  const auto above = allocations_.upper_bound(address);
  std::string text;
  if (above != allocations_.begin()) {
    const Allocation& below = std::prev(above)->second;
    text += ", " + std::to_string(address - below.address - below.bytes) + " bytes behind the end of one of " +
            std::to_string(below.bytes) + " bytes";
  }
  if (above != allocations_.end())
    text += ", " + std::to_string(above->first - address) + " bytes before one of " +
            std::to_string(above->second.bytes) + " bytes";
  return text;
}

void Heap::fill_with_poison(const Allocation& a) { std::memset(view(a.address), 0xff, round_up(a.bytes, alignment)); }

bool Heap::tail_is_intact(const Allocation& a) const {
  const char* p = view(a.address);
  for (std::size_t i = a.bytes; i < round_up(a.bytes, alignment); ++i)
    if (p[i] != static_cast<char>(0xff)) return false;
  return true;
}

void Heap::remove(std::uintptr_t address) {
  const auto found = allocations_.find(address);
  const Allocation& a = found->second;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(a.first_page - base_),
            static_cast<off_t>(a.page_bytes));
  allocations_.erase(found);
}

void Heap::clear() {
  while (!allocations_.empty()) {
    const Allocation a = allocations_.begin()->second;
    mprotect(reinterpret_cast<void*>(a.first_page), a.page_bytes, PROT_NONE);
    remove(a.address);
  }
}

Heap& device_heap() {
  static Heap& heap = *new Heap("tern-emulator-device", device_base, device_range);
  return heap;
}

Heap& pinned_heap() {
  static Heap& heap = *new Heap("tern-emulator-pinned", pinned_base, pinned_range);
  return heap;
}

char* reach(std::uintptr_t address, std::size_t bytes, const char* what) {
  if (pinned_heap().contains(address)) {
    if (pinned_heap().find(address, bytes)) return reinterpret_cast<char*>(address);
    fault(0, std::string(what) + ": " + std::to_string(bytes) + " bytes at " + hex(address) +
                 " are not inside one pinned allocation: freed before the work that uses it was done?");
    return nullptr;
  }
  if (!device_heap().contains(address)) return reinterpret_cast<char*>(address);
  const Allocation* a = device_heap().find(address, bytes);
  if (a && a->live) return device_heap().view(address);
  fault(0, std::string(what) + ": " + std::to_string(bytes) + " bytes at " + hex(address) +
               (a ? " lie in memory whose stream-ordered allocation has not been reached: a missing wait?"
                  : " are not inside one live device allocation: freed before the work that uses it was done?"));
  return nullptr;
}

int open_device_memory(Allocation& a) {
  device_heap().fill_with_poison(a);
  a.live = true;
  return a.context->executor.protect({a.first_page, a.page_bytes, true, a.address, a.bytes});
}

int drop_device_memory(std::uintptr_t address) {
  Heap& heap = device_heap();
  const Allocation a = heap.allocations()[address];
  const bool intact = !a.live || heap.tail_is_intact(a);
  a.context->used -= a.bytes;
  if (a.stream_ordered) a.context->pool_used -= a.bytes;
  heap.remove(address);
  const int status = a.context->executor.protect({a.first_page, a.page_bytes, false, a.address, a.bytes});
  if (!intact)
    return fault(abi::CUDA_ERROR_ILLEGAL_ADDRESS,
                 "something wrote past the end of a " + std::to_string(a.bytes) + "-byte device allocation");
  return status;
}

}  // namespace emulator
