#include "access_check.hpp"

#include <sys/mman.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "abi.hpp"

namespace emulator {

namespace {

constexpr std::size_t global_range = device_range + pinned_range;
static_assert(pinned_base == device_base + device_range, "one shadow covers device and pinned memory");

Cell* new_shadow(std::size_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, bytes * sizeof(Cell), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory != MAP_FAILED) return static_cast<Cell*>(memory);
  std::perror("[cuda emulator] the shadow of device memory");
  std::abort();
}

Cell* global_shadow = nullptr;  // made when an access is first checked

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address, std::size_t bytes) const { return address >= begin && address + bytes <= end; }
  bool meets(std::uintptr_t address, std::size_t bytes) const { return address < end && address + bytes > begin; }
};

Range range_at(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return {address, address + bytes};
}

std::map<std::uintptr_t, Range> allocations;  // by their begin
Range recent;                                 // of allocations, the one used last

// Shared memory with the gaps in it, and its shadow.
struct SharedMemory {
  Range whole;
  std::vector<Range> gaps;
  std::vector<Cell> shadow;
  void lie_at(Range place) {
    whole = place;
    gaps.clear();
    const std::size_t words = (place.end - place.begin + 3) / 4;
    if (shadow.size() < 4 * words) shadow.resize(4 * words);
  }
};
SharedMemory arrays, dynamic_array;

Moment now{};

[[gnu::format(printf, 2, 3)]] Fault wrong(int status, const char* format, ...) {
  static char text[300];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return {status, text};
}

const char* name_of(Access access) {
  return access == Access::read ? "a read" : access == Access::write ? "a write" : "an atomic operation";
}

Fault outside_allocations(std::uintptr_t address, std::size_t bytes, Access access) {
  const auto above = allocations.upper_bound(address);
  const auto below = above == allocations.begin() ? allocations.end() : std::prev(above);
  const std::uintptr_t after = below == allocations.end() ? ~std::uintptr_t{0} : address - below->second.end;
  const std::uintptr_t before = above == allocations.end() ? ~std::uintptr_t{0} : above->first - address;
  if (before < 4096 && before <= after)
    return wrong(abi::CUDA_ERROR_ILLEGAL_ADDRESS, "%s of %zu bytes that begins %zu bytes before an allocation",
                 name_of(access), bytes, static_cast<std::size_t>(before));
  return wrong(abi::CUDA_ERROR_ILLEGAL_ADDRESS,
               "%s of %zu bytes at %p that is outside of every allocation or passes an allocation's end",
               name_of(access), bytes, reinterpret_cast<void*>(address));
}

Fault race(const Collision& other, std::size_t bytes, Access access, const char* memory) {
  return wrong(abi::CUDA_ERROR_LAUNCH_FAILED,
               "a race: %s of %zu bytes in %s memory that thread %u of %s %s without a barrier between",
               name_of(access), bytes, memory, other.thread, other.in_other_block ? "another block" : "the block",
               other.with_write ? "writes" : "reads");
}

Fault check_shared(SharedMemory& memory, std::uintptr_t address, std::size_t bytes, Access access) {
  for (const Range& gap : memory.gaps)
    if (gap.meets(address, bytes))
      return wrong(abi::CUDA_ERROR_ILLEGAL_ADDRESS, "%s of %zu bytes outside of the shared arrays", name_of(access),
                   bytes);
  const Collision other =
      note_access(memory.shadow.data(), address - memory.whole.begin, bytes, access, now, now.block);
  return other.found ? race(other, bytes, access, "shared") : Fault{};
}

Fault check_global(std::uintptr_t address, std::size_t bytes, Access access) {
  const bool is_device = address < pinned_base;
  if (is_device && !recent.holds(address, bytes)) {
    const auto above = allocations.upper_bound(address);
    if (above == allocations.begin() || !std::prev(above)->second.holds(address, bytes))
      return outside_allocations(address, bytes, access);
    recent = std::prev(above)->second;
  }
  if (!global_shadow) global_shadow = new_shadow(global_range);
  const Collision other = note_access(global_shadow, address - device_base, bytes, access, now, now.launch);
  return other.found ? race(other, bytes, access, is_device ? "device" : "pinned") : Fault{};
}

}  // namespace

void note_protection(const Protection& p) {
  recent = {};
  if (p.accessible) {
    allocations[p.allocation] = {p.allocation, p.allocation + p.allocation_bytes};
  } else {
    allocations.erase(p.allocation);
    if (global_shadow) madvise(global_shadow + (p.address - device_base), p.bytes * sizeof(Cell), MADV_DONTNEED);
  }
}

void begin_checks(const KernelModule& module, char* dynamic, std::size_t dynamic_bytes) {
  now.launch = now.interval + 1;
  arrays.lie_at(range_at(module.shared_begin, static_cast<std::size_t>(module.shared_end - module.shared_begin)));
  for (char** gap = module.gaps_begin; gap != module.gaps_end; ++gap) arrays.gaps.push_back(range_at(*gap, shared_gap));
  dynamic_array.lie_at(range_at(dynamic - shared_gap, dynamic_bytes + 2 * shared_gap));
  dynamic_array.gaps = {range_at(dynamic - shared_gap, shared_gap), range_at(dynamic + dynamic_bytes, shared_gap)};
}

void begin_block_checks() { now.block = ++now.interval; }

void pass_barrier() { ++now.interval; }

Fault check_access(const void* p, std::size_t bytes, Access access, bool aligned, unsigned thread,
                   unsigned warp_syncs) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const bool is_global = address - device_base < global_range;
  SharedMemory* const shared = arrays.whole.holds(address, bytes)          ? &arrays
                               : dynamic_array.whole.holds(address, bytes) ? &dynamic_array
                                                                           : nullptr;
  if (!is_global && !shared) return {};  // the thread's own
  if (aligned && address % bytes)
    return wrong(abi::CUDA_ERROR_MISALIGNED_ADDRESS, "%s of %zu bytes at %p, which is misaligned", name_of(access),
                 bytes, p);
  now.thread = thread;
  now.warp_syncs = warp_syncs;
  return shared ? check_shared(*shared, address, bytes, access) : check_global(address, bytes, access);
}

Fault misuse_fault(Misuse misuse, unsigned line) {
  if (misuse == Misuse::alignment)
    return wrong(abi::CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned access in line %u of the source", line);
  return wrong(abi::CUDA_ERROR_ILLEGAL_ADDRESS, "an index outside of its array in line %u of the source", line);
}

}  // namespace emulator
