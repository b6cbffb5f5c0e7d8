// How much of a device's memory is in use, and small blocks that were freed and wait to be used again. The driver's
// pool keeps freed memory too, but an op on few elements spends two of its three calls into the driver on asking for
// memory and giving it back.
#pragma once
#include <vector>

#include "capture.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// Blocks that were freed in order with the work of the device's own stream, so that later work of that stream may use
/// them without asking. It is closed once a program takes another stream, which may still use what is freed.
class TERN_API BlockCache {
 public:
  static constexpr Index most_kept = Index(256) << 20;  // bytes

  /// open: whether blocks are kept.
  explicit BlockCache(bool open) : open_(open) {}

  /// How many bytes the driver is asked for. If blocks are kept, all of a size class are alike; if not, each has just
  /// the bytes that it is for, so that tools see an access behind its end.
  std::size_t bytes_of_new(std::size_t bytes, int size) const {
    return open_.load(std::memory_order_relaxed) ? bytes_of_size(size) : bytes;
  }
  /// A kept block, which counts as in use from here on; 0 if there is none.
  DevicePointer take(int size);
  /// Counts a block that the driver has given.
  void add(int size);
  /// Counts a block as free, and keeps it. False if the driver has to free it.
  bool keep(DevicePointer memory, int size);
  /// The kept blocks, which the driver has to free.
  std::vector<DevicePointer> drain();
  /// From here on no block is kept. Returns those that were.
  std::vector<DevicePointer> close();

  /// cached: bytes of the kept blocks.
  tern::detail::MemoryStats stats() const;
  void reset_peak();

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> open_;
  std::vector<DevicePointer> free_[small_sizes];
  Index in_use_ = 0, peak_ = 0, kept_ = 0;
};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "block_cache.ipp"
#endif
