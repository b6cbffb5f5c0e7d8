// A graph's memory.
#pragma once
#include <algorithm>

#include "memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// A graph's own memory. Memory that is freed during the capture is reused later in the capture. A block that a tensor
/// holds at the end stays with that tensor.
class TERN_API PrivatePool final : public MemoryOwner {
 public:
  /// The pool of a graph that is about to be captured.
  explicit PrivatePool(int ordinal) : ordinal_(ordinal), age_(memory_age) {}

  /// Memory that the device's own stream allocates. The allocation is not part of the graph, so the memory exists
  /// before the first replay.
  DeviceBlock allocate(std::size_t bytes);
  /// Memory that nothing captured so far uses, so bytes that are written before a replay stay unchanged until the
  /// kernel that reads them.
  DeviceBlock allocate_untouched(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return add(bytes);
  }
  TERN_KEY void give_back(DeviceBlock block) override;
  /// Called when the graph is gone. The memory is released with the last tensor in it.
  void let_go();

 private:
  struct Piece {
    DeviceBlock block;
    std::size_t bytes;
    bool held;  // by a tensor, or by captured work
  };
  DeviceBlock add(std::size_t bytes);
  bool is_held() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.held; });
  }
  /// Graphs that were captured later may use the memory too. In that case it stays until they are gone.
  void destroy() {
    for (const Piece& piece : pieces_) deallocate(piece.block);
    delete this;
  }

  const int ordinal_;
  const std::uint64_t age_;  // of its memory, which later graphs may use
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  bool has_graph_ = true;
};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "private_pool.ipp"
#endif
