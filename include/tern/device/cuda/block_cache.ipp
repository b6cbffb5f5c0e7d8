// The functions of block_cache.hpp that are not templates.
#pragma once
#include <algorithm>

#include "block_cache.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE DevicePointer BlockCache::take(int size) {
  if (size >= small_sizes) return 0;
  const std::lock_guard lock(mutex_);
  std::vector<DevicePointer>& blocks = free_[size];
  if (blocks.empty()) return 0;
  const DevicePointer memory = blocks.back();
  blocks.pop_back();
  const auto bytes = Index(bytes_of_size(size));
  kept_ -= bytes;
  peak_ = std::max(peak_, in_use_ += bytes);
  return memory;
}

TERN_INLINE void BlockCache::add(int size) {
  const std::lock_guard lock(mutex_);
  peak_ = std::max(peak_, in_use_ += Index(bytes_of_size(size)));
}

TERN_INLINE bool BlockCache::keep(DevicePointer memory, int size) {
  const auto bytes = Index(bytes_of_size(size));
  const std::lock_guard lock(mutex_);
  in_use_ -= bytes;
  if (!open_ || size >= small_sizes || kept_ + bytes > most_kept) return false;
  try {
    free_[size].push_back(memory);
  } catch (...) {  // the host has no memory for the list
    return false;
  }
  kept_ += bytes;
  return true;
}

TERN_COLD std::vector<DevicePointer> BlockCache::drain() {
  const std::lock_guard lock(mutex_);
  std::vector<DevicePointer> all;
  for (std::vector<DevicePointer>& blocks : free_) {
    all.insert(all.end(), blocks.begin(), blocks.end());
    blocks.clear();
  }
  kept_ = 0;
  return all;
}

TERN_COLD std::vector<DevicePointer> BlockCache::close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  return drain();
}

TERN_COLD tern::detail::MemoryStats BlockCache::stats() const {
  const std::lock_guard lock(mutex_);
  return {in_use_, peak_, kept_};
}

TERN_COLD void BlockCache::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = in_use_;
}

}}}  // namespace tern::cuda::detail
