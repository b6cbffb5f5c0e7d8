// The memory of one graph.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <algorithm>

#include "memory.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A graph's own memory. What is freed while it captures is used again by what it captures later; what tensors still hold then is theirs as
/// long as they want.
class PrivatePool final : public MemoryOwner {
 public:
  /// Of the graph that is about to be captured.
  explicit PrivatePool(int ordinal) : ordinal_(ordinal), tag_(new_tag(ordinal)) {}

  /// Memory that the device's own stream allocates: not part of the graph, and there before its first replay.
  DeviceBlock allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Piece* best = nullptr;
    for (Piece& piece : pieces_)
      if (!piece.held && piece.bytes >= bytes && (!best || piece.bytes < best->bytes)) best = &piece;
    if (!best) return add(bytes);
    best->held = true;
    return {best->memory, tag_of(this)};
  }
  /// Memory that nothing captured before has used: what is written to it before a replay is there all through it.
  DeviceBlock allocate_untouched(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return add(bytes);
  }
  void give_back(DeviceBlock block) override {
    {
      const std::lock_guard lock(mutex_);
      for (Piece& piece : pieces_)
        if (piece.memory == block.memory) piece.held = false;
      if (has_graph_ || is_held()) return;
    }
    destroy();
  }
  /// The graph is gone; the memory goes with the last tensor in it.
  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      has_graph_ = false;
      if (is_held()) return;
    }
    destroy();
  }

 private:
  struct Piece {
    DevicePointer memory;
    std::size_t bytes;
    bool held;  // by a tensor, or by work that is being captured
  };
  DeviceBlock add(std::size_t bytes) {
    const std::size_t whole = memory::class_bytes(memory::class_of(bytes));
    DevicePointer memory = 0;
    TERN_CUDA(cuMemAllocAsync, &memory, whole, system().devices[std::size_t(ordinal_)]->compute);
    pieces_.push_back({memory, whole, true});
    return {memory, tag_of(this)};
  }
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
