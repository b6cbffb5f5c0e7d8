// The backward pass: nodes in order of decreasing sequence number, which is a topological order without a counting pass.
#pragma once
#include <utility>
#include <vector>

#include "leaf_gradient.hpp"
#include "ready_queue.hpp"

namespace tern::inline TERN_BUILD::detail {

/// One run of the engine. An op that others can reach is the pass's from its first gradient until it has run: a second pass, of another
/// thread or inside a hook, that comes to it meanwhile is refused.
class TERN_API Backward {
 public:
  Backward(bool keep_graph, bool create_graph) : keep_(keep_graph), create_graph_(create_graph) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;
  ~Backward();

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

  void run();

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
  struct CapturedGradient {
    Node* node;
    TensorImpl* gradient;
  };

  CapturedGradient* find(const Node* node) {
    for (CapturedGradient& c : captured_)
      if (c.node == node) return &c;
    return nullptr;
  }

  void add_to(TensorImpl*& sum, TensorImpl* g, const GradOps* ops) { detail::add_to(sum, g, ops, create_graph_); }

  /// Makes an op this pass's. False: it was before.
  bool own(Node* node);

  /// Hands gradient g (taken) to a node, which is taken where it is queued. The running node's edges from `rest` to `end` are still to
  /// be passed on.
  void deliver(HeldNode& held, TensorImpl* g, Edge* rest, Edge* end);

  /// The gradient g (taken) of a leaf while leaves are captured, or of one with hooks or a listener.
  void deliver_to_watched(Node* leaf, TensorImpl* g, Edge* rest, Edge* end);

  /// Counts the edges to leaves with hooks or a listener, the one that is being passed on among them: at the first gradient that comes
  /// to such a leaf, so a pass without them counts nothing.
  void count(Node* leaf, Edge* rest, Edge* end);

  /// An edge without a gradient: it counts where edges are counted.
  void arrive_without(HeldNode& held) {
    if (pending_.counted()) [[unlikely]] skip(held);
  }
  void skip(HeldNode& held);

  /// An op that no gradient came to.
  void pass_by(Node* node);

  /// A node's complete gradient, which hooks may replace, to whoever asked to see it.
  void show(Node* node, TensorImpl*& gradient);

  void run_node(Node* node);

  static ShapeRef input_shape(Node* node, const Edge& edge) {
    return {reinterpret_cast<const Index*>(node->at(edge.dims)), edge.ndim};
  }

  void call(Node* node, Edge& edge, TensorImpl* gradient, TensorImpl** results);

  /// The op's own output is part of its graph again, through an alias of this call only.
  void call_differentiable(Node* node, Edge& edge, Saved* saved, TensorImpl* gradient, TensorImpl** results);

  void pass_on(Node* node, Edge& edge, TensorImpl** results);

  bool keep_, create_graph_;
  bool capturing_ = false;
  const std::uint32_t number_ = new_pass_number();
  ReadyQueue ready_;
  std::vector<CapturedGradient> captured_;
  PendingLeaves pending_;
};

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "engine.ipp"
#endif
