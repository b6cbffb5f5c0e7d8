// What a leaf's gradient needs: accumulation, also by several threads, and for hooks and listeners the count of what is still to come.
#pragma once
#include <utility>
#include <vector>

#include "grad_listener.hpp"
#include "node.hpp"

namespace tern::inline TERN_BUILD::detail {

/// While alive, no other thread adds to the leaf's gradient: several may share parameters. Who waits sleeps, since a kernel runs
/// meanwhile.
class TERN_API GradLock {
 public:
  explicit GradLock(Node* leaf) : state_(leaf->owner) {
    std::uint32_t found = open;
    if (!state_.compare_exchange_strong(found, locked, std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]] wait();
  }
  ~GradLock() {
    if (state_.exchange(open, std::memory_order_release) == awaited) [[unlikely]] state_.notify_one();
  }
  GradLock(const GradLock&) = delete;
  GradLock& operator=(const GradLock&) = delete;

 private:
  void wait();

  enum State : std::uint32_t { open, locked, awaited };
  std::atomic<std::uint32_t>& state_;
};

/// sum += g (taken).
inline void add_to(TensorImpl*& sum, TensorImpl* g, const GradOps* ops, bool differentiable) {
  if (sum) ops->accumulate(sum, g, differentiable);
  else sum = g;
}

/// leaf.grad += g (taken). A gradient that nobody else sees is adopted.
TERN_API void accumulate_grad(Node* leaf, TensorImpl* g, bool differentiable);

/// The same in memory that the leaf's listener gave.
TERN_API void accumulate_grad_in(TensorImpl* memory, Node* leaf, TensorImpl* g);

/// The gradient (taken) after the hooks have seen it.
TERN_API TensorImpl* run_hooks(Hook* hook, TensorImpl* g);

/// The leaves with hooks or a listener that one pass reaches, and how many edges to each are still to come.
class TERN_API PendingLeaves {
 public:
  PendingLeaves() {}
  PendingLeaves(const PendingLeaves&) = delete;
  PendingLeaves& operator=(const PendingLeaves&) = delete;
  ~PendingLeaves();

  bool counted() const { return !table_.empty(); }
  bool any_complete() const { return !complete_.empty(); }

  /// Notes one more edge to a leaf.
  void count(Node* leaf);

  /// Tells listeners which leaves the pass does not reach; all edges are counted.
  void start();

  /// An edge brings g (taken), or no gradient.
  void arrive(Node* leaf, TensorImpl* g, bool differentiable);

  /// Runs the hooks of the leaves that are complete, and tells their listeners; between two ops, so a hook may run a pass of its own.
  void finish(bool differentiable);

 private:
  struct Leaf {
    Node* leaf = nullptr;
    TensorImpl* gradient = nullptr;  // of this pass, where hooks are to see it before it is accumulated
    std::uint32_t edges = 0;         // still to come
    bool reached = false;            // by a gradient
  };

  static void add(Node* leaf, TensorImpl* g, bool differentiable) {
    TensorImpl* const memory = leaf->extra->memory;
    if (memory && !differentiable) accumulate_grad_in(memory, leaf, g);
    else accumulate_grad(leaf, g, differentiable);
  }

  static void finish(Leaf& p, bool differentiable);

  /// The leaf's place in the table, which is hashed and never full.
  Leaf& place_of(const Node* leaf);

  void grow() {
    const auto old = std::exchange(table_, std::vector<Leaf>(table_.empty() ? 16 : 2 * table_.size()));
    for (const Leaf& p : old)
      if (p.leaf) place_of(p.leaf) = p;
  }

  std::vector<Leaf> table_;
  std::vector<Leaf*> complete_;
  std::size_t used_ = 0;
};

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "leaf_gradient.ipp"
#endif
