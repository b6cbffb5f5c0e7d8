// The backward pass: nodes in order of decreasing sequence number, which is a topological order without a counting pass.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <utility>
#include <vector>

#include "leaf_gradient.hpp"
#include "ready_queue.hpp"

namespace tern::inline TERN_BUILD::detail {

/// One run of the engine. An op that others can reach is the pass's from its first gradient until it has run: a second pass, of another
/// thread or inside a hook, that comes to it meanwhile is refused.
class Backward {
 public:
  Backward(bool keep_graph, bool create_graph) : keep_(keep_graph), create_graph_(create_graph) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;
  ~Backward() {
    while (!ready_.empty()) {  // an op threw
      const Running rest{{ready_.pop()}};
      release(std::exchange(rest.node->gradient, nullptr));
    }
    for (Captured& c : captured_) release(c.gradient);
  }

  /// Collect the gradient of this node instead of adding it to leaves; call before run.
  void capture(Node* node) {
    capturing_ = true;
    captured_.push_back({node, nullptr});
  }
  /// What was collected for the i-th captured node, or null.
  TensorImpl* take_captured(int i) { return std::exchange(captured_[std::size_t(i)].gradient, nullptr); }

  /// Puts gradient g (taken) in at a node.
  void start(Node* root, TensorImpl* g) {
    root->refs.increase();
    HeldNode held{root};
    deliver(held, g, nullptr, nullptr);
  }

  [[gnu::noinline]] void run() {
    GradMode mode(create_graph_);
    for (;;) {
      if (pending_.any_complete()) [[unlikely]] pending_.finish(create_graph_);
      if (ready_.empty()) return;
      const Running running{{ready_.pop()}};
      if (running.node->gradient) run_node(running.node);
      else pass_by(running.node);
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
  /// The node whose turn it is.
  struct Running : HeldNode {
    ~Running() { node->owner.store(0, std::memory_order_release); }
  };
  struct Captured {
    Node* node;
    TensorImpl* gradient;
  };

  Captured* find(const Node* node) {
    for (Captured& c : captured_)
      if (c.node == node) return &c;
    return nullptr;
  }

  void add_to(TensorImpl*& sum, TensorImpl* g, const GradOps* ops) { detail::add_to(sum, g, ops, create_graph_); }

  /// Makes an op this pass's. False: it was before.
  bool own(Node* node) {
    std::uint32_t owner = 0;
    if (node->owner.compare_exchange_strong(owner, number_, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    if (owner != number_)
      fail(node->name, {"two backward passes, of two threads or one in a hook of the other, came to it at once; a graph serves one at "
                        "a time"});
    return false;
  }

  /// Hands gradient g (taken) to a node, which is taken where it is queued. The running node's edges from `rest` to `end` are still to
  /// be passed on.
  void deliver(HeldNode& held, TensorImpl* g, Edge* rest, Edge* end) {
    Node* const node = held.node;
    if (node->leaf) {
      if (capturing_ || node->extra) [[unlikely]] return deliver_to_watched(node, g, rest, end);
      return accumulate_grad(node, g, create_graph_);
    }
    Owned gradient(g);
    if (!node->refs.unique() && node->owner.load(std::memory_order_relaxed) != number_) own(node);
    add_to(node->gradient, gradient.take(), node->ops);
    if (!node->queued) ready_.push(held.take());
  }

  /// The gradient g (taken) of a leaf while leaves are captured, or of one with hooks or a listener.
  [[gnu::noinline, gnu::cold]] void deliver_to_watched(Node* leaf, TensorImpl* g, Edge* rest, Edge* end) {
    Owned gradient(g);
    if (capturing_) {
      if (Captured* const c = find(leaf)) add_to(c->gradient, gradient.take(), leaf->ops);
      return;
    }
    if (!pending_.counted()) count(leaf, rest, end);
    pending_.arrive(leaf, gradient.take(), create_graph_);
  }

  /// Counts the edges to leaves with hooks or a listener, the one that is being passed on among them: at the first gradient that comes
  /// to such a leaf, so a pass without them counts nothing.
  [[gnu::noinline, gnu::cold]] void count(Node* leaf, Edge* rest, Edge* end) {
    struct Walk {
      std::vector<Node*> nodes;
      ~Walk() {
        for (Node* node : nodes)
          if (!node->queued) node->owner.store(0, std::memory_order_release);
      }
    } walk;
    for (Node* const node : ready_) {
      own(node);
      walk.nodes.push_back(node);
    }
    const auto visit = [&](Node* node) {
      if (!node) return;
      if (!node->leaf) {
        if (own(node)) walk.nodes.push_back(node);
      } else if (node->extra) {
        pending_.count(node);
      }
    };
    pending_.count(leaf);
    for (Edge* edge = rest; edge != end; ++edge) visit(edge->next);
    for (std::size_t i = 0; i < walk.nodes.size(); ++i)
      for (int k = 0; k < walk.nodes[i]->edge_count; ++k) visit(walk.nodes[i]->edges()[k].next);
    pending_.start();
  }

  /// An edge without a gradient: it counts where edges are counted.
  void arrive_without(HeldNode& held) {
    if (pending_.counted()) [[unlikely]] skip(held);
  }
  [[gnu::noinline, gnu::cold]] void skip(HeldNode& held) {
    Node* const node = held.node;
    if (node->leaf) {
      if (node->extra) pending_.arrive(node, nullptr, create_graph_);
      return;
    }
    own(node);
    if (!node->queued) ready_.push(held.take());
  }

  /// An op that no gradient came to.
  [[gnu::noinline, gnu::cold]] void pass_by(Node* node) {
    for (int k = 0; k < node->edge_count; ++k) {
      HeldNode held{node->edges()[k].next};
      held.node->refs.increase();
      skip(held);
    }
  }

  /// A node's complete gradient, which hooks may replace, to whoever asked to see it.
  [[gnu::noinline, gnu::cold]] void show(Node* node, TensorImpl*& gradient) {
    if (Captured* const c = capturing_ ? find(node) : nullptr) {
      retain(gradient);
      add_to(c->gradient, gradient, node->ops);
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

  static ShapeRef input_shape(Node* node, const Edge& edge) {
    return {reinterpret_cast<const Index*>(node->at(edge.dims)), edge.ndim};
  }

  void call(Node* node, Edge& edge, TensorImpl* gradient, TensorImpl** results) {
    auto* saved = reinterpret_cast<Saved*>(node->at(edge.stored));
    for (int j = 0; j < edge.saved_count; ++j) {
      if (saved[j].version != saved[j].impl->owner->version)
        fail(node->name, {"a tensor saved for backward was modified in place (line ", Index(node->line), " of ",
                          node->file ? node->file : "an unknown file", ")"});
    }
    if (create_graph_) call_differentiable(node, edge, saved, gradient, results);
    else edge.fn(saved, gradient, results, input_shape(node, edge));
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
    edge.fn(saved, gradient, results, input_shape(node, edge));
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
    if (!g.impl) return arrive_without(held);
    if (tape.anomaly_mode && next->ops->has_nan(g.impl)) {
      fail(node->name, {"its backward gave a NaN; the forward call was at ", node->file ? node->file : "an unknown file", ":",
                        Index(node->line)});
    }
    const ShapeRef shape = input_shape(node, edge);
    bool fits = g.impl->ndim == shape.n;
    for (int k = 0; fits && k < shape.n; ++k) fits = g.impl->dims[k] == shape.d[k];
    if (!fits) g.impl = next->ops->sum_to(g.take(), shape);
    deliver(held, g.take(), &edge + 1, node->edges() + node->edge_count);
  }

  bool keep_, create_graph_;
  bool capturing_ = false;
  const std::uint32_t number_ = new_pass_number();
  ReadyQueue ready_;
  std::vector<Captured> captured_;
  PendingLeaves pending_;
};

}  // namespace tern::detail
