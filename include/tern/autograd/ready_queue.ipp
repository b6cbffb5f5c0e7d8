// The functions of ready_queue.hpp that are not templates.
#pragma once
#include "ready_queue.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE void ReadyQueue::push(Node* node) {
  if (size_ == capacity_) [[unlikely]]
    grow();
  node->queued = true;
  std::uint32_t at = size_++;
  for (; at > 0 && nodes_[(at - 1) / 2]->sequence < node->sequence; at = (at - 1) / 2)
    nodes_[at] = nodes_[(at - 1) / 2];
  nodes_[at] = node;
}

TERN_INLINE Node* ReadyQueue::pop() {
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

TERN_COLD void ReadyQueue::grow() {
  const int size_class = memory::class_of(2 * capacity_ * sizeof(Node*));
  auto* const larger = static_cast<Node**>(memory::allocate(size_class));
  std::memcpy(larger, nodes_, size_ * sizeof(Node*));
  if (nodes_ != first_) memory::deallocate(nodes_, size_class_);
  nodes_ = larger;
  capacity_ *= 2;
  size_class_ = size_class;
}

}}}  // namespace tern::detail
