// A device whose memory the host cannot read, in as few lines as that takes; docs/adding-a-device.md is told from it.
// Its memory is mapped without access, so that host code which reads or writes it ends in a fault; while a kernel or a
// transfer runs it is open. Its kernels are Naive's.
#pragma once
#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "naive.hpp"
#include "tern/backend/attention.hpp"
#include "tern/device/device.hpp"
#include "tern/device/events.hpp"

namespace tern_test {

/// One of two, by its number.
struct Remote {
  int ordinal = 0;
  bool operator==(const Remote&) const = default;
};

/// The memory of both devices.
class RemoteMemory {
 public:
  static constexpr int device_count = 2;

  static RemoteMemory& instance() {
    static RemoteMemory& memory = *new RemoteMemory;
    return memory;
  }
  void* allocate(int size_class) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free = free_[size_class];
    if (!free.empty()) {
      void* const block = free.back();
      free.pop_back();
      in_use_ += tern::detail::memory::class_bytes(size_class);
      return block;
    }
    const std::size_t bytes = tern::detail::memory::class_bytes(size_class);
    in_use_ += bytes;
    if (bytes >= large) used_ = (used_ + page - 1) / page * page;
    if (bytes > most - used_)
      tern::Error::fail("remote memory", {"out of memory: ", tern::Index(bytes), " bytes were asked for"});
    if (open_ > 0) protect(PROT_READ | PROT_WRITE, used_ + bytes);
    return first_ + std::exchange(used_, used_ + bytes);
  }
  void deallocate(void* block, int size_class) {
    const std::lock_guard lock(mutex_);
    free_[size_class].push_back(block);
    const std::size_t bytes = tern::detail::memory::class_bytes(size_class);
    in_use_ -= bytes;
    if (bytes >= large) madvise(block, bytes, MADV_DONTNEED);  // opening costs time for each page that is there
  }
  std::size_t in_use() {
    const std::lock_guard lock(mutex_);
    return in_use_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    if (open_++ == 0) protect(PROT_READ | PROT_WRITE, used_);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) protect(PROT_NONE, used_);
  }

 private:
  static constexpr std::size_t most = std::size_t(1) << 34, large = std::size_t(1) << 16, page = 4096;

  RemoteMemory() {
    void* const all = mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) tern::Error::fail("remote memory", {"there is no address space"});
    first_ = static_cast<char*>(all);
  }
  void protect(int access, std::size_t bytes) {
    if (bytes && mprotect(first_, (bytes + page - 1) / page * page, access) != 0)
      tern::Error::fail("remote memory", {"its protection cannot be changed"});
  }

  std::mutex mutex_;
  char* first_ = nullptr;
  std::size_t used_ = 0, in_use_ = 0;  // bytes mapped so far; bytes of blocks that are not free
  int open_ = 0;                       // kernels and transfers under way
  std::vector<void*> free_[tern::detail::memory::class_count];
};

/// While alive, the devices' memory can be read and written. Counts as one piece of work.
class RemoteWork {
 public:
  explicit RemoteWork(tern::detail::Work work, std::size_t bytes = 0) {
    ++tern::detail::device_events.count[int(work)];
    tern::detail::device_events.bytes[int(work)] += std::int64_t(bytes);
    RemoteMemory::instance().open();
  }
  ~RemoteWork() { RemoteMemory::instance().close(); }
  RemoteWork(const RemoteWork&) = delete;
  RemoteWork& operator=(const RemoteWork&) = delete;
};

/// Every op that Naive computes, as it does.
template <class D, class... T, class Op>
  requires(std::is_same_v<D, Remote>) && tern::detail::backend::HasKernel<Naive, Op, T...>
void kernel(tern::detail::backend::On<D>, tern::detail::backend::Types<T...> types, const Op& op) {
  const RemoteWork open_memory(tern::detail::Work::kernel);
  kernel(tern::detail::backend::On<Naive>{}, types, op);
}

/// It has a kernel for attention, and takes it always.
inline bool attention_pays(tern::detail::backend::On<Remote>, const tern::detail::backend::AttentionSizes&, bool) {
  return true;
}

}  // namespace tern_test

namespace tern { inline namespace TERN_BUILD {

template <>
struct DeviceTraits<tern_test::Remote> {
  static constexpr const char* name = "remote";
  static constexpr bool host_accessible = false;

  static void open(int ordinal) {
    if (ordinal < 0 || ordinal >= tern_test::RemoteMemory::device_count)
      Error::fail("remote", {"there is no device remote:", ordinal});
  }
  static int& current_ordinal() {
    static constinit thread_local int ordinal = 0;
    return ordinal;
  }
  static DeviceMemory allocate(int ordinal, std::size_t bytes) {
    open(ordinal);
    const int size_class = detail::memory::class_of(bytes);
    const tern::detail::Deleter deleter = [](void* block, void* context) {
      tern_test::RemoteMemory::instance().deallocate(block, int(reinterpret_cast<std::intptr_t>(context)));
    };
    return {tern_test::RemoteMemory::instance().allocate(size_class), deleter,
            reinterpret_cast<void*>(std::intptr_t(size_class))};
  }
  static void copy_to_device(int, void* to, const void* from, std::size_t bytes) {
    copy(tern::detail::Work::to_device, to, from, bytes);
  }
  static void copy_to_host(int, void* to, const void* from, std::size_t bytes) {
    ++detail::device_events.count[int(tern::detail::Work::wait)];
    copy(tern::detail::Work::to_host, to, from, bytes);
  }
  static void copy_to_peer(int, void* to, int, const void* from, std::size_t bytes) {
    copy(tern::detail::Work::to_device, to, from, bytes);
  }

 private:
  static void copy(tern::detail::Work work, void* to, const void* from, std::size_t bytes) {
    const tern_test::RemoteWork open_memory(work, bytes);
    if (bytes) std::memcpy(to, from, bytes);
  }
};

}}  // namespace tern
