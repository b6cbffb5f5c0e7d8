// What a leaf's gradient needs: accumulation, also by several threads, and for hooks and listeners the count of what is still to come.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <utility>
#include <vector>

#include "grad_listener.hpp"
#include "node.hpp"

namespace tern::inline TERN_BUILD::detail {

/// While alive, no other thread adds to the leaf's gradient: several may share parameters. Who waits sleeps, since a kernel runs
/// meanwhile.
class GradLock {
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
  [[gnu::noinline, gnu::cold]] void wait() {
    while (state_.exchange(awaited, std::memory_order_acquire) != open) state_.wait(awaited, std::memory_order_relaxed);
  }

  enum State : std::uint32_t { open, locked, awaited };
  std::atomic<std::uint32_t>& state_;
};

/// sum += g (taken).
inline void add_to(TensorImpl*& sum, TensorImpl* g, const GradOps* ops, bool differentiable) {
  if (sum) ops->accumulate(sum, g, differentiable);
  else sum = g;
}

/// leaf.grad += g (taken). A gradient that nobody else sees is adopted.
inline void accumulate_grad(Node* leaf, TensorImpl* g, bool differentiable) {
  Owned held(g);
  const GradLock lock(leaf);
  if (!leaf->gradient && !differentiable && !(sole_owner(g) && is_dense(*g))) {
    leaf->gradient = copied(*leaf->ops->device, g);
    return;
  }
  add_to(leaf->gradient, held.take(), leaf->ops, differentiable);
}

/// The same in memory that the leaf's listener gave.
[[gnu::noinline, gnu::cold]] inline void accumulate_grad_in(TensorImpl* memory, Node* leaf, TensorImpl* g) {
  Owned held(g);
  const GradLock lock(leaf);
  const DeviceOps& device = *leaf->ops->device;
  if (leaf->gradient == memory) return leaf->ops->add_in_place(memory, held.take());
  device.copy(*memory, leaf->gradient ? *leaf->gradient : *g);
  bump_version(memory);
  if (leaf->gradient) leaf->ops->add_in_place(memory, held.take());
  retain(memory);
  release(std::exchange(leaf->gradient, memory));
}

/// The gradient (taken) after the hooks have seen it.
[[gnu::noinline, gnu::cold]] inline TensorImpl* run_hooks(Hook* hook, TensorImpl* g) {
  Owned shown(g);
  for (; hook; hook = hook->next) {
    TensorImpl* const replacement = hook->call(hook->closure, shown.impl);
    if (replacement) release(std::exchange(shown.impl, replacement));
  }
  return shown.take();
}

/// The leaves with hooks or a listener that one pass reaches, and how many edges to each are still to come.
class PendingLeaves {
 public:
  PendingLeaves() {}
  PendingLeaves(const PendingLeaves&) = delete;
  PendingLeaves& operator=(const PendingLeaves&) = delete;
  ~PendingLeaves() {
    for (Pending& p : table_) {
      release(p.gradient);
      if (p.leaf) release_node(p.leaf);
    }
  }

  bool counted() const { return !table_.empty(); }
  bool any_complete() const { return !complete_.empty(); }

  /// Notes one more edge to a leaf.
  void count(Node* leaf) {
    if (2 * (used_ + 1) > table_.size()) grow();
    Pending& p = place_of(leaf);
    if (!p.leaf) {
      p.leaf = leaf;
      leaf->refs.increase();
      ++used_;
    }
    ++p.edges;
  }

  /// Tells listeners which leaves the pass does not reach; all edges are counted.
  void start() {
    std::vector<GradListener*> told;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      GradListener* const listener = table_[i].leaf ? table_[i].leaf->extra->listener : nullptr;
      bool first = listener;
      for (GradListener* other : told) first = first && other != listener;
      if (!first) continue;
      told.push_back(listener);
    }
    for (GradListener* listener : told) {
      std::vector<std::size_t> unused;
      for (std::size_t i = 0; i < listener->listened_.size(); ++i)
        if (!place_of(listener->listened_[i].node).leaf) unused.push_back(i);
      listener->on_start(unused);
    }
  }

  /// An edge brings g (taken), or no gradient.
  void arrive(Node* leaf, TensorImpl* g, bool differentiable) {
    Owned held(g);
    Pending& p = place_of(leaf);
    if (!p.leaf) {  // it has hooks since the edges were counted
      if (g) add(leaf, held.take(), differentiable);
      return;
    }
    if (g) {
      p.reached = true;
      if (leaf->extra->before) add_to(p.gradient, held.take(), leaf->ops, differentiable);
      else add(leaf, held.take(), differentiable);
    }
    if (--p.edges == 0) complete_.push_back(&p);
  }

  /// Runs the hooks of the leaves that are complete, and tells their listeners; between two ops, so a hook may run a pass of its own.
  [[gnu::noinline, gnu::cold]] void finish(bool differentiable) {
    for (std::size_t i = 0; i < complete_.size(); ++i) finish(*complete_[i], differentiable);
    complete_.clear();
  }

 private:
  struct Pending {
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

  static void finish(Pending& p, bool differentiable) {
    NodeExtra& extra = *p.leaf->extra;
    if (p.gradient) add(p.leaf, run_hooks(extra.before, std::exchange(p.gradient, nullptr)), differentiable);
    if (p.reached)
      for (Hook* hook = extra.after_accumulate; hook; hook = hook->next) hook->call(hook->closure, p.leaf->gradient);
    if (extra.listener) extra.listener->on_ready(extra.place);
  }

  /// The leaf's place in the table, which is hashed and never full.
  Pending& place_of(const Node* leaf) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(leaf) >> 6) * 0x9E3779B97F4A7C15u >> 32 & mask;
    while (table_[at].leaf && table_[at].leaf != leaf) at = (at + 1) & mask;
    return table_[at];
  }

  void grow() {
    const auto old = std::exchange(table_, std::vector<Pending>(table_.empty() ? 16 : 2 * table_.size()));
    for (const Pending& p : old)
      if (p.leaf) place_of(p.leaf) = p;
  }

  std::vector<Pending> table_;
  std::vector<Pending*> complete_;
  std::size_t used_ = 0;
};

}  // namespace tern::detail
