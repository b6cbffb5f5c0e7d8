#include "tern/device/memory.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#if defined(TERN_SEPARATE_BLOCKS) && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

#include "tern/tensor/map.hpp"
#endif

namespace device_memory {
using namespace tern;
using tern_test::error_of;

TEST_CASE("every size has the smallest class that holds it, at most a quarter larger") {
  for (int c = 1; c < detail::memory::class_count; ++c)
    REQUIRE(detail::memory::class_bytes(c) > detail::memory::class_bytes(c - 1));
  const auto check = [](std::size_t bytes) {
    const int c = detail::memory::class_of(bytes);
    REQUIRE(detail::memory::class_bytes(c) >= bytes);
    if (c > 0) REQUIRE(detail::memory::class_bytes(c - 1) < bytes);
    if (bytes > 1024) REQUIRE(detail::memory::class_bytes(c) <= bytes + bytes / 4 + 1);
  };
  for (std::size_t bytes = 1; bytes < 10000; ++bytes) check(bytes);
  for (std::size_t power = 14; power < 42; ++power)
    for (const std::size_t more : {-1, 0, 1}) check((std::size_t(1) << power) + more);
  CHECK(detail::memory::class_of(0) == 0);
}

TEST_CASE("large blocks begin at a huge page, so that the system may use such pages") {
  for (const std::size_t bytes : {std::size_t(2) << 20, std::size_t(5) << 20, std::size_t(64) << 20}) {
    const int c = detail::memory::class_of(bytes);
    void* const block = detail::memory::allocate(c);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % (std::size_t(2) << 20) == 0);
    detail::memory::deallocate(block, c);
  }
}

TEST_CASE("blocks are aligned, distinct, and used again") {
  for (const std::size_t bytes : {1, 64, 65, 1000, 5000, 100000, 3000000}) {
    const int c = detail::memory::class_of(bytes);
    std::set<void*> blocks;
    for (int i = 0; i < 20; ++i) {
      void* const block = detail::memory::allocate(c);
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::memset(block, i, detail::memory::class_bytes(c));
      REQUIRE(blocks.insert(block).second);
    }
    for (void* block : blocks) detail::memory::deallocate(block, c);
    void* const again = detail::memory::allocate(c);
    if (!detail::memory::separate_blocks) CHECK(blocks.count(again) == 1);
    detail::memory::deallocate(again, c);
  }
}

TEST_CASE("a large block may be a cached one of up to twice its size, and a smaller one is not") {
  if (detail::memory::separate_blocks) return;
  constexpr std::size_t mb = std::size_t(1) << 20;
  const auto reused = [](std::size_t cached, std::size_t wanted) {
    detail::memory::release_cached();
    const auto old = detail::memory::allocate_bytes(cached);
    detail::memory::deallocate(old.data, old.size_class);
    const detail::MemoryStats before = detail::memory::stats();
    const auto block = detail::memory::allocate_bytes(wanted);
    REQUIRE(detail::memory::class_bytes(block.size_class) >= wanted);
    const bool taken = detail::memory::stats().cached < before.cached;
    CHECK(detail::memory::stats().current - before.current == Index(detail::memory::class_bytes(block.size_class)));
    CHECK((taken ? block.data == old.data && block.size_class == old.size_class
                 : block.size_class == detail::memory::class_of(wanted)));
    detail::memory::deallocate(block.data, block.size_class);
    CHECK(detail::memory::stats().current == before.current);
    return taken;
  };
  CHECK(reused(64 * mb, 64 * mb));
  CHECK(reused(64 * mb, 33 * mb));
  CHECK(reused(64 * mb, 32 * mb));
  CHECK_FALSE(reused(64 * mb, 28 * mb));
  CHECK_FALSE(reused(32 * mb, 33 * mb));
  CHECK_FALSE(reused(2 * mb, mb));  // smaller blocks are many, and of their own class
}

TEST_CASE("more memory than the machine has is an Error, and counts nowhere") {
  const detail::MemoryStats before = detail::memory::stats();
  const int c = detail::memory::class_of(detail::memory::machine_bytes() + 1);
  const std::string error = error_of([c] { detail::memory::allocate(c); });
  CHECK(error ==
        detail::text({"cpu memory: out of memory: ", Index(detail::memory::class_bytes(c)), " bytes were asked for, ",
                      before.current, " are in use and ", before.cached, " were cached"}));
  CHECK(detail::memory::stats().current == before.current);
  CHECK(detail::memory::stats().peak == before.peak);
}

TEST_CASE("the statistics tell what is in use, the most, and what is kept; release_cached gives it back") {
  detail::memory::release_cached();
  const int c = detail::memory::class_of(std::size_t(1) << 20);
  const Index bytes = Index(detail::memory::class_bytes(c));
  const detail::MemoryStats before = detail::memory::stats();
  CHECK(before.cached == 0);
  void *const a = detail::memory::allocate(c), *const b = detail::memory::allocate(c);
  CHECK(detail::memory::stats().current == before.current + 2 * bytes);
  CHECK(detail::memory::stats().peak >= before.current + 2 * bytes);
  detail::memory::deallocate(a, c);
  detail::memory::deallocate(b, c);
  CHECK(detail::memory::stats().current == before.current);
  detail::memory::reset_peak();
  CHECK(detail::memory::stats().peak == before.current);
  CHECK(detail::memory::stats().cached == (detail::memory::separate_blocks ? 0 : 2 * bytes));
  detail::memory::release_cached();
  CHECK(detail::memory::stats().cached == 0);
}

TEST_CASE("blocks may be freed by another thread, and what a finished thread kept is used again", "[threads]") {
  const int c = detail::memory::class_of(2000);  // of a size that no other test leaves behind in numbers
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 100; ++i) blocks.push_back(detail::memory::allocate(c));
  }).join();
  const Index reserved = detail::memory::stats().current;
  std::thread([&] {
    for (void* block : blocks) detail::memory::deallocate(block, c);
  }).join();
  std::vector<void*> again;
  for (int i = 0; i < 100; ++i) again.push_back(detail::memory::allocate(c));
  CHECK(detail::memory::stats().current == reserved);  // nothing new from the system
  for (void* block : again) detail::memory::deallocate(block, c);
}

TEST_CASE("the peak counts small blocks") {
  detail::memory::reset_peak();
  const Index before = detail::memory::stats().peak;
  const int c = detail::memory::class_of(64);
  std::vector<void*> blocks((std::size_t(detail::memory::stats().current) + detail::memory::slab_bytes) / 64 +
                            1);  // more than is kept
  for (void*& block : blocks) block = detail::memory::allocate(c);
  CHECK(detail::memory::stats().peak > before);
  CHECK(detail::memory::stats().peak >= detail::memory::stats().current);
  for (void* block : blocks) detail::memory::deallocate(block, c);
}

#if defined(TERN_SEPARATE_BLOCKS) && defined(__SANITIZE_ADDRESS__)
TEST_CASE("the address sanitizer sees the bytes behind a tensor's last element") {
  for (const Index n : {1, 9, 10, 192, 193, 100000}) {
    const auto x = empty<Cpu>({n});
    CHECK(__asan_address_is_poisoned(x.data() + n));
    CHECK(!__asan_address_is_poisoned(x.data() + n - 1));
  }
}
#endif

}  // namespace device_memory
