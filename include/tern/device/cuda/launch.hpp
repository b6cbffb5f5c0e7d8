// Kernels: found by what they were made from, compiled when they are first used, launched on their device's stream.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "kernel_cache.hpp"
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// The kernels of one device by a 64-bit key: open addressing, never more than half full.
class Kernels {
 public:
  /// Null if there is none yet.
  Function find(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    return slots_.empty() ? nullptr : slot(key).function;
  }
  void insert(std::uint64_t key, Function function) {
    const std::lock_guard lock(mutex_);
    if (2 * (count_ + 1) > slots_.size()) {
      std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
      old.swap(slots_);
      for (const Slot& s : old)
        if (s.function) slot(s.key) = s;
    }
    Slot& s = slot(key);
    if (!s.function) ++count_;
    s = {key, function};
  }

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

[[gnu::noinline]] inline Kernels& kernels(int ordinal) {
  static std::vector<Kernels>& all = *new std::vector<Kernels>(system().devices.size());
  return all[std::size_t(ordinal)];
}

/// Compiles and loads the function of that name. Two threads that come at once both do, and one of the two stays.
[[gnu::noinline, gnu::cold]] inline Function load_kernel(const DeviceState& state, int ordinal, std::uint64_t key,
                                                         const char* name, const std::string& source) {
  const std::string image = kernel_image(source, state.major, state.minor);
  Module module;
  Function function;
  TERN_CUDA(cuModuleLoadData, &module, image.c_str());
  if (const Status status = driver().functions.cuModuleGetFunction(&function, module, name)) {
    TERN_CUDA_RELEASE(cuModuleUnload, module);
    refuse("cuModuleGetFunction", status);
  }
  kernels(ordinal).insert(key, function);
  return function;
}

}  // namespace detail

/// Launches the kernel of that key and name, whose source source() gives where it is not loaded yet, with `words`, one structure of
/// eight-byte words, as its only parameter.
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
