// Kernels are found by key, compiled at first use, and launched on their device's stream.
#pragma once
#include "kernel_cache.hpp"
#include "span.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {

/// A kernel, and its name in profilers, which is never freed.
struct LoadedKernel {
  Function function = nullptr;
  const char* name = nullptr;
};

/// The kernels of one device by a 64-bit key. A hash table with open addressing, never more than half full.
class TERN_API Kernels {
 public:
  /// A null function if there is none.
  LoadedKernel find(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    return slots_.empty() ? LoadedKernel() : slot(key).kernel;
  }
  /// The kernel that the table has for the key from then on: this one, unless it has one.
  LoadedKernel insert(std::uint64_t key, LoadedKernel kernel);

 private:
  struct Slot {
    std::uint64_t key = 0;
    LoadedKernel kernel;
  };
  Slot& slot(std::uint64_t key) {
    std::size_t i = key & (slots_.size() - 1);
    while (slots_[i].kernel.function && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

TERN_API Kernels& kernels(int ordinal);

/// Compiles and loads the kernel whose name is, or begins with, this one and is followed by an underscore. If two
/// threads load the same one at once, one of the two functions is kept. All launches have as much shared memory as this
/// grid, or less.
TERN_API LoadedKernel load_kernel(const DeviceState& state, int ordinal, std::uint64_t key, const char* name,
                                  const Grid& grid, const std::string& source);

}  // namespace detail

/// Launches the kernel of that key and name, as load_kernel() has it. If it is not loaded yet, source() returns its
/// source. `words`, a structure of eight-byte words, is its only parameter.
template <class Source>
void launch(int ordinal, std::uint64_t key, const char* name, Grid grid, const std::uint64_t* words,
            const Source& source) {
  const detail::DeviceState& state = detail::bind(ordinal);
  detail::LoadedKernel kernel = detail::kernels(ordinal).find(key);
  if (!kernel.function) [[unlikely]]
    kernel = detail::load_kernel(state, ordinal, key, name, grid, source());
  const detail::Span span(tern::detail::Work::kernel, kernel.name, ordinal, state.compute);
  void* parameters[] = {const_cast<std::uint64_t*>(words)};
  TERN_CUDA(cuLaunchKernel, kernel.function, unsigned(grid.blocks), 1, 1, unsigned(grid.threads), 1, 1,
            unsigned(grid.shared_bytes), state.compute, parameters, nullptr);
}

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "launch.ipp"
#endif
