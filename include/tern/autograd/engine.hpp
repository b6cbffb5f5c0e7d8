// The backward pass. It runs nodes in order of decreasing sequence number, which is a topological order, so no counting
// pass is necessary.
#pragma once
#include <utility>
#include <vector>

#include "leaf_gradient.hpp"
#include "ready_queue.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// One backward pass. A pass owns an op from the op's first gradient until the op has run. If another pass, in another
/// thread or in a hook, reaches the op in that time, it fails.
class TERN_API Backward {
 public:
  Backward(bool keep_graph, bool create_graph) : keep_(keep_graph), create_graph_(create_graph) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;
  ~Backward();

  /// Collects the gradient of this node instead of adding it to leaves. Call it before run.
  void capture(Node* node);
  /// The gradient collected for the i-th captured node, or null.
  TensorImpl* take_captured(int i) { return std::exchange(captured_[std::size_t(i)].gradient, nullptr); }

  /// Starts at a node with gradient g (taken).
  void start(Node* root, TensorImpl* g);

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
  /// The node that is running.
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

  /// Makes this pass the op's owner. False if it was already.
  bool own(Node* node);

  /// Gives gradient g (taken) to a node. The reference to the node is taken if the node is queued. The running node has
  /// still to pass on its edges from `rest` to `end`.
  void deliver(HeldNode& held, TensorImpl* g, Edge* rest, Edge* end);

  /// Takes gradient g of a leaf that has hooks or a listener, or of any leaf while gradients are captured.
  void deliver_to_watched(Node* leaf, TensorImpl* g, Edge* rest, Edge* end);

  /// Counts the edges to leaves with hooks or a listener, including the edge that is being passed on. The first
  /// gradient that reaches such a leaf triggers it, so a pass without such leaves counts nothing.
  void count(Node* leaf, Edge* rest, Edge* end);

  /// An edge brings no gradient. This matters only if edges are counted.
  void arrive_without(HeldNode& held) {
    if (pending_.counted()) [[unlikely]]
      skip(held);
  }
  void skip(HeldNode& held);

  /// The node received no gradient; its edges bring none either.
  void pass_by(Node* node);

  /// Shows a node's complete gradient to its hooks, which may replace it, and to grad(), which may have asked for it.
  void show(Node* node, TensorImpl*& gradient);

  void run_node(Node* node);

  static ShapeRef input_shape(Node* node, const Edge& edge) {
    return {reinterpret_cast<const Index*>(node->at(edge.dims)), edge.ndim};
  }

  void call(Node* node, Edge& edge, TensorImpl* gradient, TensorImpl** results);

  /// Makes the op's own output part of its graph again, by an alias that lives for this call only.
  void call_differentiable(Node* node, Edge& edge, Saved* saved, TensorImpl* gradient, TensorImpl** results);

  void pass_on(Node* node, Edge& edge, TensorImpl** results);

  bool keep_, create_graph_;
  bool capturing_ = false;
  const std::uint32_t number_ = new_pass_number();
  ReadyQueue ready_;
  std::vector<CapturedGradient> captured_;
  PendingLeaves pending_;
};

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "engine.ipp"
#endif
