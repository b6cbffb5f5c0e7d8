// The functions of engine.hpp that are not templates.
#pragma once
#include "engine.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE void Backward::capture(Node* node) {
  capturing_ = true;
  captured_.push_back({node, nullptr});
}

TERN_INLINE void Backward::start(Node* root, TensorImpl* g) {
  root->refs.increase();
  HeldNode held{root};
  deliver(held, g, nullptr, nullptr);
}

TERN_INLINE Backward::~Backward() {
  while (!ready_.empty()) {  // not empty if an op threw
    const Running rest{{ready_.pop()}};
    release(std::exchange(rest.node->gradient, nullptr));
  }
  for (CapturedGradient& c : captured_) release(c.gradient);
}

TERN_NOINLINE void Backward::run() {
  GradMode mode(create_graph_);
  for (;;) {
    if (pending_.any_complete()) [[unlikely]]
      pending_.finish(create_graph_);
    if (ready_.empty()) return;
    const Running running{{ready_.pop()}};
    if (running.node->gradient) run_node(running.node);
    else pass_by(running.node);
  }
}

TERN_INLINE bool Backward::own(Node* node) {
  std::uint32_t owner = 0;
  if (node->owner.compare_exchange_strong(owner, number_, std::memory_order_acquire, std::memory_order_relaxed))
    return true;
  if (owner != number_)
    Error::fail(
        node->site,
        {"two backward passes, in two threads or one in a hook of the other, reached it at once; a graph serves one at "
         "a time"});
  return false;
}

TERN_INLINE void Backward::deliver(HeldNode& held, TensorImpl* g, Edge* rest, Edge* end) {
  Node* const node = held.node;
  if (node->leaf) {
    if (capturing_ || node->extra) [[unlikely]]
      return deliver_to_watched(node, g, rest, end);
    return accumulate_grad(node, g, create_graph_);
  }
  Owned gradient(g);
  if (!node->refs.unique() && node->owner.load(std::memory_order_relaxed) != number_) own(node);
  add_to(node->gradient, gradient.take(), node->ops);
  if (!node->queued) ready_.push(held.take());
}

TERN_COLD void Backward::deliver_to_watched(Node* leaf, TensorImpl* g, Edge* rest, Edge* end) {
  Owned gradient(g);
  if (capturing_) {
    if (CapturedGradient* const c = find(leaf)) add_to(c->gradient, gradient.take(), leaf->ops);
    return;
  }
  if (!pending_.counted()) count(leaf, rest, end);
  pending_.arrive(leaf, gradient.take(), create_graph_);
}

TERN_COLD void Backward::count(Node* leaf, Edge* rest, Edge* end) {
  struct Visited {
    std::vector<Node*> nodes;
    ~Visited() {
      for (Node* node : nodes)
        if (!node->queued) node->owner.store(0, std::memory_order_release);
    }
  } visited;
  for (Node* const node : ready_) {
    own(node);
    visited.nodes.push_back(node);
  }
  const auto visit = [&](Node* node) {
    if (!node) return;
    if (!node->leaf) {
      if (own(node)) visited.nodes.push_back(node);
    } else if (node->extra) {
      pending_.count(node);
    }
  };
  pending_.count(leaf);
  for (Edge* edge = rest; edge != end; ++edge) visit(edge->next);
  for (std::size_t i = 0; i < visited.nodes.size(); ++i)
    for (int k = 0; k < visited.nodes[i]->edge_count; ++k) visit(visited.nodes[i]->edges()[k].next);
  pending_.start();
}

TERN_COLD void Backward::skip(HeldNode& held) {
  Node* const node = held.node;
  if (node->leaf) {
    if (node->extra) pending_.arrive(node, nullptr, create_graph_);
    return;
  }
  own(node);
  if (!node->queued) ready_.push(held.take());
}

TERN_COLD void Backward::pass_by(Node* node) {
  for (int k = 0; k < node->edge_count; ++k) {
    HeldNode held{node->edges()[k].next};
    held.node->refs.increase();
    skip(held);
  }
}

TERN_COLD void Backward::show(Node* node, TensorImpl*& gradient) {
  if (CapturedGradient* const c = capturing_ ? find(node) : nullptr) {
    retain(gradient);
    add_to(c->gradient, gradient, node->ops);
  }
  if (!node->extra) return;
  while (Recompute* const recompute = node->extra->recompute)  // more than once if a checkpoint is inside another
    recompute->fill(recompute);
  gradient = run_hooks(node->extra->before, std::exchange(gradient, nullptr));
  if (!node->extra->retain_gradient) return;
  retain(gradient);
  add_to(node->extra->retained, gradient, node->ops);
}

TERN_INLINE void Backward::run_node(Node* node) {
  Owned gradient(std::exchange(node->gradient, nullptr));
  if (capturing_ || node->extra) show(node, gradient.impl);
  if (node->freed)
    Error::fail(
        node->site,
        {"backward a second time through a graph that was already freed; pass retain_graph = true to the first"});
  if (!keep_) node->freed = true;
  const OutermostScope scope({node->site.line() ? &node->site : outermost.line, outermost.operation});
  TensorImpl* results[256];
  for (int i = 0; i < node->edge_count;) {
    Edge& edge = node->edges()[i];
    int group = i + 1;  // the edges whose gradients this function computes
    while (group < node->edge_count && !node->edges()[group].fn) ++group;
    for (int k = 0; k < node->joint_count; ++k) results[k] = nullptr;
    for (int k = i; k < group; ++k)
      results[node->edges()[k].slot] = gradient.impl;  // any non-null pointer says that the gradient is needed
    // The last function that reads the gradient may write its result there: less memory is touched.
    const bool is_last = group == node->edge_count && !create_graph_;
    tape.given_up = is_last && sole_owner(gradient.impl) && is_dense(*gradient.impl) ? gradient.impl : nullptr;
    call(node, edge, gradient.impl, results);
    tape.given_up = nullptr;
    struct ReleaseRest {  // if pass_on throws, releases what it did not take
      TensorImpl** results;
      int count;
      ~ReleaseRest() {
        for (int k = 0; k < count; ++k) release(results[k]);
      }
    } rest{results, node->joint_count};
    if (group == node->edge_count)
      release(gradient.take());  // so that a result that is this gradient has one owner and is adopted
    for (int k = i; k < group; ++k) pass_on(node, node->edges()[k], results);
    i = group;
  }
  if (!keep_) node->edge_count = 0;
}

TERN_INLINE void Backward::call(Node* node, Edge& edge, TensorImpl* gradient, TensorImpl** results) {
  auto* saved = reinterpret_cast<Saved*>(node->at(edge.stored));
  for (int j = 0; j < edge.saved_count; ++j) {
    if (saved[j].impl && saved[j].version != saved[j].impl->owner->version)
      Error::fail(node->site, {"a tensor saved for backward was modified in place"});
  }
  if (create_graph_) call_differentiable(node, edge, saved, gradient, results);
  else edge.fn(saved, gradient, results, input_shape(node, edge));
}

TERN_COLD void Backward::call_differentiable(Node* node, Edge& edge, Saved* saved, TensorImpl* gradient,
                                             TensorImpl** results) {
  TensorImpl* originals[max_saved];
  const int count = edge.saved_count;
  for (int j = 0; j < count; ++j) {
    originals[j] = saved[j].impl;
    if (!saved[j].is_output) continue;
    saved[j].impl = new_detached(originals[j]);
    saved[j].impl->node = node;
    node->refs.increase();
  }
  struct Restore {
    Saved* saved;
    TensorImpl** originals;
    int count;
    ~Restore() {
      for (int j = 0; j < count; ++j)
        if (saved[j].is_output) release(std::exchange(saved[j].impl, originals[j]));
    }
  } restore{saved, originals, count};
  edge.fn(saved, gradient, results, input_shape(node, edge));
}

TERN_INLINE void Backward::pass_on(Node* node, Edge& edge, TensorImpl** results) {
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
  if (tape.anomaly_mode && next->ops->has_nan(g.impl)) Error::fail(node->site, {"its backward gave a NaN"});
  const ShapeRef shape = input_shape(node, edge);
  bool fits = g.impl->ndim == shape.n;
  for (int k = 0; fits && k < shape.n; ++k) fits = g.impl->dims[k] == shape.d[k];
  if (!fits) {
    bool broadcasts = g.impl->ndim >= shape.n;
    for (int k = 1; broadcasts && k <= shape.n; ++k)
      broadcasts = shape.d[shape.n - k] == 1 || shape.d[shape.n - k] == g.impl->dims[g.impl->ndim - k];
    if (!broadcasts)
      Error::fail(node->site,
                  {"its backward gave a gradient of shape ", g.impl->shape_ref(), " for an input of shape ", shape});
    g.impl = next->ops->sum_to(g.take(), shape);
  }
  deliver(held, g.take(), &edge + 1, node->edges() + node->edge_count);
}

}}}  // namespace tern::detail
