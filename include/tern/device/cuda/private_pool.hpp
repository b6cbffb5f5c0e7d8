// The memory of one graph.
#pragma once
#include <algorithm>

#include "memory.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A graph's own memory. What is freed while it captures is used again by what it captures later; what tensors still hold then is theirs as
/// long as they want.
class TERN_API PrivatePool final : public MemoryOwner {
 public:
  /// Of the graph that is about to be captured.
  explicit PrivatePool(int ordinal) : ordinal_(ordinal), tag_(new_tag(ordinal)) {}

  /// Memory that the device's own stream allocates: not part of the graph, and there before its first replay.
  DeviceBlock allocate(std::size_t bytes);
  /// Memory that nothing captured before has used: what is written to it before a replay is there all through it.
  DeviceBlock allocate_untouched(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return add(bytes);
  }
  TERN_KEY void give_back(DeviceBlock block) override;
  /// The graph is gone; the memory goes with the last tensor in it.
  void let_go();

 private:
  struct Piece {
    DevicePointer memory;
    std::size_t bytes;
    bool held;  // by a tensor, or by work that is being captured
  };
  DeviceBlock add(std::size_t bytes);
  bool is_held() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.held; });
  }
  /// Graphs that were captured later may use the memory too: then it is theirs.
  void destroy() {
    for (const Piece& piece : pieces_) deallocate({piece.memory, tag_});
    delete this;
  }

  const int ordinal_;
  const std::uintptr_t tag_;
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  bool has_graph_ = true;
};

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "private_pool.ipp"
#endif
