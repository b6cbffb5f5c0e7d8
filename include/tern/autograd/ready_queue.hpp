// The nodes that a backward pass has still to run, in order of decreasing sequence number.
#pragma once
#include <cstring>

#include "node.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A binary heap. <algorithm> would add 0.1 s to a user's compilation. The first nodes are stored inside the object,
/// because most graphs are narrow.
class TERN_API ReadyQueue {
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

  void push(Node* node);

  /// The node with the largest sequence number.
  Node* pop();

 private:
  void grow();

  static constexpr std::uint32_t narrow = 16;
  Node* first_[narrow];
  Node** nodes_ = first_;
  std::uint32_t size_ = 0, capacity_ = narrow;
  int size_class_ = 0;  // of nodes_, if it is not first_
};

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "ready_queue.ipp"
#endif
