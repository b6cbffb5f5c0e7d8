// Kernels are found by key, compiled at first use, and launched on their device's stream.
#pragma once
#include "kernel_cache.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// The kernels of one device by a 64-bit key. A hash table with open addressing, never more than half full.
class TERN_API Kernels {
 public:
  /// Null if there is none.
  Function find(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    return slots_.empty() ? nullptr : slot(key).function;
  }
  void insert(std::uint64_t key, Function function);

 private:
  struct Slot {
    std::uint64_t key = 0;
    Function function = nullptr;
  };
  Slot& slot(std::uint64_t key) {
    std::size_t i = key & (slots_.size() - 1);
    while (slots_[i].function && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

TERN_API Kernels& kernels(int ordinal);

/// Compiles and loads the function of that name. If two threads load the same one at once, one of the two functions is
/// kept.
TERN_API Function load_kernel(const DeviceState& state, int ordinal, std::uint64_t key, const char* name, const std::string& source);

}  // namespace detail

/// Launches the kernel of that key and name. If it is not loaded yet, source() returns its source. `words`, a structure
/// of eight-byte words, is its only parameter.
template <class Source>
void launch(int ordinal, std::uint64_t key, const char* name, Grid grid, const std::uint64_t* words, const Source& source) {
  const detail::DeviceState& state = detail::bind(ordinal);
  Function function = detail::kernels(ordinal).find(key);
  if (!function) [[unlikely]] function = detail::load_kernel(state, ordinal, key, name, source());
  const detail::Span span(Work::kernel, name, ordinal, state.compute);
  void* parameters[] = {const_cast<std::uint64_t*>(words)};
  TERN_CUDA(cuLaunchKernel, function, unsigned(grid.blocks), 1, 1, unsigned(grid.threads), 1, 1, 0, state.compute, parameters, nullptr);
}

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "launch.ipp"
#endif
