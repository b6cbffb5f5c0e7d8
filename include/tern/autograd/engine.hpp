// The backward pass: nodes in order of decreasing sequence number, which is a topological order without a counting pass.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <sched.h>

#include <utility>
#include <vector>

#include "node.hpp"

namespace tern::inline TERN_BUILD::detail {

/// One run of the engine.
class Backward {
 public:
  Backward(bool keep_graph, bool create_graph) : keep_(keep_graph), create_graph_(create_graph) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;
  ~Backward() {
    for (Node* node : ready_) {  // not empty only when an op threw
      node->queued = false;
      if (!node->leaf) release(std::exchange(node->gradient, nullptr));
      release_node(node);
    }
    for (Sum& sum : sums_) release(sum.gradient);
  }

  /// Collect the gradient of this node instead of adding it to leaves; call before run.
  void capture(Node* node) {
    capturing_ = true;
    sums_.push_back({node, nullptr, true});
  }
  /// What was collected for the i-th captured node, or null.
  TensorImpl* take_captured(int i) { return std::exchange(sums_[std::size_t(i)].gradient, nullptr); }

  /// Puts gradient g (taken) in at a node.
  void start(Node* root, TensorImpl* g) {
    root->refs.increase();
    HeldNode held{root};
    deliver(held, g);
  }

  [[gnu::noinline]] void run() {
    GradMode mode(create_graph_);
    while (!ready_.empty()) {
      const HeldNode held{pop()};
      if (held.node->leaf) finish_leaf(held.node);
      else run_node(held.node);
    }
  }

 private:
  /// A reference to a node.
  struct HeldNode {
    Node* node;
    ~HeldNode() {
      if (node) release_node(node);
    }
    Node* take() { return std::exchange(node, nullptr); }
  };
  struct Sum {
    Node* node;
    TensorImpl* gradient;
    bool captured;
  };

  Sum* find(const Node* node) {
    for (Sum& sum : sums_)
      if (sum.node == node) return &sum;
    return nullptr;
  }

  void add_to(TensorImpl*& sum, TensorImpl* g, const GradOps* ops) {
    if (sum) ops->accumulate(sum, g, create_graph_);
    else sum = g;
  }

  void push(Node* node) {
    node->queued = true;
    ready_.push_back(node);
    std::size_t at = ready_.size() - 1;
    for (; at > 0 && ready_[(at - 1) / 2]->sequence < node->sequence; at = (at - 1) / 2) ready_[at] = ready_[(at - 1) / 2];
    ready_[at] = node;
  }

  /// The node with the largest sequence number; ready_ is a binary heap (<algorithm> costs a user 0.1 s).
  Node* pop() {
    Node* const top = ready_.front();
    Node* const last = ready_.back();
    ready_.pop_back();
    const std::size_t size = ready_.size();
    for (std::size_t at = 0, child = 1; size > 0; at = child, child = 2 * at + 1) {
      if (child + 1 < size && ready_[child + 1]->sequence > ready_[child]->sequence) ++child;
      if (child >= size || ready_[child]->sequence <= last->sequence) {
        ready_[at] = last;
        break;
      }
      ready_[at] = ready_[child];
    }
    top->queued = false;
    return top;
  }

  /// Hands gradient g (taken) to a node, which is taken where it is queued: a plain leaf adds it at once, others wait until all of it
  /// has come.
  void deliver(HeldNode& held, TensorImpl* g) {
    Node* const node = held.node;
    if (node->leaf) return deliver_to_leaf(held, g);
    add_to(node->gradient, g, node->ops);
    if (!node->queued) push(held.take());
  }

  void deliver_to_leaf(HeldNode& held, TensorImpl* g) {
    if (capturing_ || held.node->extra) [[unlikely]] return collect(held, g);
    accumulate_grad(held.node, g);
  }

  /// The gradient g of a leaf that is captured, or has hooks.
  [[gnu::noinline, gnu::cold]] void collect(HeldNode& held, TensorImpl* g) {
    Node* const node = held.node;
    Sum* sum = find(node);
    if (!sum && node->extra && !capturing_) {
      sums_.push_back({node, nullptr, false});
      sum = &sums_.back();
    }
    if (!sum) return release(g);
    const bool first = !sum->gradient;
    add_to(sum->gradient, g, node->ops);
    if (first && !sum->captured) push(held.take());
  }

  /// leaf.grad += g (taken). A gradient that nobody else sees is adopted.
  void accumulate_grad(Node* leaf, TensorImpl* g) {
    while (leaf->busy.exchange(true, std::memory_order_acquire)) sched_yield();
    struct Unlock {
      Node* leaf;
      ~Unlock() { leaf->busy.store(false, std::memory_order_release); }
    } unlock{leaf};
    if (!leaf->gradient && !create_graph_ && !(sole_owner(g) && is_dense(*g))) {
      const Owned whole(g);
      g = copied(*leaf->ops->device, whole.impl);
    }
    add_to(leaf->gradient, g, leaf->ops);
  }

  /// A leaf with hooks: its gradient of this pass is complete, since leaves come last.
  [[gnu::noinline, gnu::cold]] void finish_leaf(Node* leaf) {
    Sum* const sum = find(leaf);
    TensorImpl* g = run_hooks(leaf->extra->before, std::exchange(sum->gradient, nullptr));
    accumulate_grad(leaf, g);
    for (Hook* hook = leaf->extra->after_accumulate; hook; hook = hook->next) hook->call(hook->closure, leaf->gradient);
  }

  /// The gradient (taken) after the hooks have seen it.
  [[gnu::noinline, gnu::cold]] TensorImpl* run_hooks(Hook* hook, TensorImpl* g) {
    Owned shown(g);
    for (; hook; hook = hook->next) {
      TensorImpl* const replacement = hook->call(hook->closure, shown.impl);
      if (replacement) release(std::exchange(shown.impl, replacement));
    }
    return shown.take();
  }

  /// A node's complete gradient, which hooks may replace, to whoever asked to see it.
  [[gnu::noinline, gnu::cold]] void show(Node* node, TensorImpl*& gradient) {
    if (Sum* const sum = capturing_ ? find(node) : nullptr) {
      retain(gradient);
      add_to(sum->gradient, gradient, node->ops);
    }
    if (!node->extra) return;
    while (Recompute* const recompute = node->extra->recompute)  // more than once where one checkpoint is in another
      recompute->fill(recompute);
    gradient = run_hooks(node->extra->before, std::exchange(gradient, nullptr));
    if (!node->extra->retain_gradient) return;
    retain(gradient);
    add_to(node->extra->retained, gradient, node->ops);
  }

  void run_node(Node* node) {
    Owned gradient(std::exchange(node->gradient, nullptr));
    if (capturing_ || node->extra) show(node, gradient.impl);
    if (node->freed)
      fail(node->name, {"backward a second time through a graph that was already freed; pass retain_graph = true to the first"});
    if (!keep_) node->freed = true;
    const Here here = node->here();
    const Here* const outer = std::exchange(outermost_site, node->file ? &here : outermost_site);
    struct Restore {
      const Here* outer;
      ~Restore() { outermost_site = outer; }
    } restore{outer};
    TensorImpl* results[256];
    for (int i = 0; i < node->edge_count;) {
      Edge& edge = node->edges()[i];
      int group = i + 1;  // the edges that this function serves
      while (group < node->edge_count && !node->edges()[group].fn) ++group;
      for (int k = 0; k < node->joint_count; ++k) results[k] = nullptr;
      for (int k = i; k < group; ++k) results[node->edges()[k].slot] = gradient.impl;  // any non-null: wanted
      call(node, edge, gradient.impl, results);
      struct ReleaseRest {  // what pass_on did not take, when it throws
        TensorImpl** results;
        int count;
        ~ReleaseRest() {
          for (int k = 0; k < count; ++k) release(results[k]);
        }
      } rest{results, node->joint_count};
      if (group == node->edge_count) release(gradient.take());  // so that a passed-on one is adopted
      for (int k = i; k < group; ++k) pass_on(node, node->edges()[k], results);
      i = group;
    }
    if (!keep_) node->edge_count = 0;
  }

  void call(Node* node, Edge& edge, TensorImpl* gradient, TensorImpl** results) {
    auto* saved = reinterpret_cast<Saved*>(node->at(edge.stored));
    for (int j = 0; j < edge.saved_count; ++j) {
      if (saved[j].version != saved[j].impl->owner->version)
        fail(node->name, {"a tensor saved for backward was modified in place (line ", Index(node->line), " of ",
                          node->file ? node->file : "an unknown file", ")"});
    }
    tape.input_shape = {reinterpret_cast<const Index*>(node->at(edge.dims)), edge.ndim};
    if (create_graph_) call_differentiable(node, edge, saved, gradient, results);
    else edge.fn(saved, gradient, results);
  }

  /// The op's own output is part of its graph again, through an alias of this call only.
  [[gnu::noinline, gnu::cold]] void call_differentiable(Node* node, Edge& edge, Saved* saved, TensorImpl* gradient,
                                                        TensorImpl** results) {
    TensorImpl* kept[max_saved];
    const int count = edge.saved_count;
    for (int j = 0; j < count; ++j) {
      kept[j] = saved[j].impl;
      if (!saved[j].is_output) continue;
      saved[j].impl = new_detached(kept[j]);
      saved[j].impl->node = node;
      node->refs.increase();
    }
    struct Restore {
      Saved* saved;
      TensorImpl** kept;
      int count;
      ~Restore() {
        for (int j = 0; j < count; ++j)
          if (saved[j].is_output) release(std::exchange(saved[j].impl, kept[j]));
      }
    } restore{saved, kept, count};
    edge.fn(saved, gradient, results);
  }

  void pass_on(Node* node, Edge& edge, TensorImpl** results) {
    Node* const next = edge.next;
    if (!keep_) {
      clear_edge(node, edge);
      edge.next = nullptr;
    } else {
      next->refs.increase();
    }
    HeldNode held{next};
    Owned g(std::exchange(results[edge.slot], nullptr));
    if (!g.impl) return;
    if (tape.anomaly_mode && next->ops->has_nan(g.impl)) {
      fail(node->name, {"its backward gave a NaN; the forward call was at ", node->file ? node->file : "an unknown file", ":",
                        Index(node->line)});
    }
    const auto* dims = reinterpret_cast<const Index*>(node->at(edge.dims));
    bool fits = g.impl->ndim == edge.ndim;
    for (int k = 0; fits && k < edge.ndim; ++k) fits = g.impl->dims[k] == dims[k];
    if (!fits) g.impl = next->ops->sum_to(g.take(), {dims, edge.ndim});
    deliver(held, g.take());
  }

  bool keep_, create_graph_;
  bool capturing_ = false;
  std::vector<Node*> ready_;
  std::vector<Sum> sums_;
};

}  // namespace tern::detail
