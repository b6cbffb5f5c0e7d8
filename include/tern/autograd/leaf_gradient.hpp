// The accumulation of a leaf's gradient, possibly by several threads. For hooks and listeners, also the number of edges
// that have not arrived yet.
#pragma once
#include <utility>
#include <vector>

#include "grad_listener.hpp"
#include "node.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// While alive, no other thread adds to the leaf's gradient; threads may share parameters. A waiting thread sleeps,
/// because a kernel runs meanwhile.
class TERN_API GradLock {
 public:
  explicit GradLock(Node* leaf) : state_(leaf->owner) {
    std::uint32_t found = open;
    if (!state_.compare_exchange_strong(found, locked, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      wait();
  }
  ~GradLock() {
    if (state_.exchange(open, std::memory_order_release) == awaited) [[unlikely]]
      state_.notify_one();
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

/// leaf.grad += g (taken). If g has no other owner, it becomes the grad itself.
TERN_API void accumulate_grad(Node* leaf, TensorImpl* g, bool differentiable);

/// The same, in the memory that the leaf's listener gave.
TERN_API void accumulate_grad_in(TensorImpl* memory, Node* leaf, TensorImpl* g);

/// Drops the gradient of a leaf, which may be null, or fills it with zeros in its own memory.
TERN_API void zero_grad(Node* leaf, bool set_to_none);

/// Returns gradient g (taken) after the hooks, which may replace it.
TERN_API TensorImpl* run_hooks(Hook* hook, TensorImpl* g);

/// The leaves with hooks or a listener that one pass reaches, and for each the number of edges that have not arrived
/// yet.
class TERN_API PendingLeaves {
 public:
  PendingLeaves() {}
  PendingLeaves(const PendingLeaves&) = delete;
  PendingLeaves& operator=(const PendingLeaves&) = delete;
  ~PendingLeaves();

  bool counted() const { return !table_.empty(); }
  bool any_complete() const { return !complete_.empty(); }

  /// Counts one more edge to a leaf.
  void count(Node* leaf);

  /// All edges are counted. Tells the listeners which leaves the pass does not reach.
  void start();

  /// An edge brings g (taken), or null for no gradient.
  void arrive(Node* leaf, TensorImpl* g, bool differentiable);

  /// Runs the hooks of complete leaves and tells their listeners. Called between two ops, so that a hook may run a
  /// backward pass of its own.
  void finish(bool differentiable);

 private:
  struct Leaf {
    Node* leaf = nullptr;
    TensorImpl* gradient = nullptr;  // of this pass, if hooks see it before it is accumulated
    std::uint32_t edges = 0;         // not yet arrived
    bool reached = false;            // true if a gradient arrived
  };

  static void add(Node* leaf, TensorImpl* g, bool differentiable);
  static void finish(Leaf& p, bool differentiable);

  /// The leaf's entry in the hash table, which is never full.
  Leaf& place_of(const Node* leaf);

  void grow();

  std::vector<Leaf> table_;
  std::vector<Leaf*> complete_;
  std::size_t used_ = 0;
};

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "leaf_gradient.ipp"
#endif
