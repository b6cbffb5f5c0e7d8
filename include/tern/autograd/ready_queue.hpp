// The nodes that a backward pass will run next, in order of decreasing sequence number.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstring>

#include "node.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A binary heap (<algorithm> costs a user 0.1 s). The first nodes need no memory of their own: most graphs are narrow.
class ReadyQueue {
 public:
  ReadyQueue() {}
  ReadyQueue(const ReadyQueue&) = delete;
  ReadyQueue& operator=(const ReadyQueue&) = delete;
  ~ReadyQueue() {
    if (nodes_ != first_) memory::deallocate(nodes_, size_class_);
  }

  bool empty() const { return size_ == 0; }
  Node* const* begin() const { return nodes_; }
  Node* const* end() const { return nodes_ + size_; }

  void push(Node* node) {
    if (size_ == room_) [[unlikely]] grow();
    node->queued = true;
    std::uint32_t at = size_++;
    for (; at > 0 && nodes_[(at - 1) / 2]->sequence < node->sequence; at = (at - 1) / 2) nodes_[at] = nodes_[(at - 1) / 2];
    nodes_[at] = node;
  }

  /// The node with the largest sequence number.
  Node* pop() {
    Node* const top = nodes_[0];
    Node* const last = nodes_[--size_];
    for (std::uint32_t at = 0, child = 1; size_ > 0; at = child, child = 2 * at + 1) {
      if (child + 1 < size_ && nodes_[child + 1]->sequence > nodes_[child]->sequence) ++child;
      if (child >= size_ || nodes_[child]->sequence <= last->sequence) {
        nodes_[at] = last;
        break;
      }
      nodes_[at] = nodes_[child];
    }
    top->queued = false;
    return top;
  }

 private:
  [[gnu::noinline, gnu::cold]] void grow() {
    const int size_class = memory::class_of(2 * room_ * sizeof(Node*));
    auto* const larger = static_cast<Node**>(memory::allocate(size_class));
    std::memcpy(larger, nodes_, size_ * sizeof(Node*));
    if (nodes_ != first_) memory::deallocate(nodes_, size_class_);
    nodes_ = larger;
    room_ *= 2;
    size_class_ = size_class;
  }

  static constexpr std::uint32_t narrow = 16;
  Node* first_[narrow];
  Node** nodes_ = first_;
  std::uint32_t size_ = 0, room_ = narrow;
  int size_class_ = 0;  // of nodes_, where it is not first_
};

}  // namespace tern::detail
