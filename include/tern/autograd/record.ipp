// The functions of record.hpp that are not templates.
#pragma once
#include "record.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE Node* grad_node(TensorImpl* p) {
  if (p->base && p->view_version != p->owner->version) [[unlikely]] {
    p->view_version = p->owner->version;
    if (p->base->node) p->base->node->ops->record_view(p);
  }
  return p->node;
}

TERN_NOINLINE Saved save(TensorImpl* tensor, const TensorImpl* output, const CallSite& op) {
  if (!tensor) return {nullptr, 0, false};
  if (tensor->inference)
    Error::fail(op, {"a tensor made in inference mode cannot be saved for a backward pass; clone() it outside"});
  const bool is_output = tensor == output;
  if (is_output) {
    tensor = new_detached(output);
  } else if (tensor->base) {
    // A view holds its base. If the base is written later, it holds this graph, which would be a cycle. So save the
    // view's history without its base.
    TensorImpl* const view = tensor;
    tensor = new_detached(view);
    if (view->node) {
      tensor->node = view->node;
      view->node->refs.increase();
    }
  } else {
    tensor->refs.increase();
  }
  return {tensor, tensor->owner->version, is_output};
}

TERN_NOINLINE void record_edges(const CallSite& op, const GradOps* ops, TensorImpl* output, const EdgePlan* plans,
                                int count) {
  std::size_t bytes = sizeof(Node);
  int edges = 0;
  for (int i = 0; i < count; ++i) {
    const EdgePlan& plan = plans[i];
    bool needed = false;
    for (int k = 0; k < plan.input_count; ++k) {
      if (!plan.inputs[k] || !grad_node(plan.inputs[k])) continue;
      bytes += sizeof(Edge) + 8u * plan.inputs[k]->ndim;
      needed = true;
      ++edges;
    }
    if (needed) bytes += plan.saved_count * sizeof(Saved) + align8(plan.closure_bytes);
  }
  if (edges == 0) return;
  Node* const node = new_node({op.name(), site(op)}, ops, bytes);
  struct Guard {  // save() may throw
    Node* node;
    ~Guard() {
      if (node) release_node(node);
    }
  } guard{node};
  std::size_t offset = sizeof(Node) + std::size_t(edges) * sizeof(Edge);
  std::uint64_t sequence = tape.sequence;
  for (int i = 0; i < count; ++i) {
    const EdgePlan& plan = plans[i];
    bool first = true;
    for (int k = 0; k < plan.input_count; ++k) {
      TensorImpl* const input = plan.inputs[k];
      if (!input || !input->node) continue;
      Edge& edge = node->edges()[node->edge_count];
      edge = {input->node, first ? plan.fn : nullptr, std::uint16_t(offset), 0, input->ndim, std::uint8_t(k), 0, false};
      input->node->refs.increase();
      ++node->edge_count;
      if (input->node->sequence > sequence) sequence = input->node->sequence;
      if (first) {
        auto* saved = reinterpret_cast<Saved*>(node->at(offset));
        for (int j = 0; j < plan.saved_count; ++j) {
          saved[j] = save(plan.saved[j], output, op);
          ++edge.saved_count;
        }
        offset += plan.saved_count * sizeof(Saved);
        if (plan.plain) {
          if (plan.closure_bytes) std::memcpy(node->at(offset), plan.closure, plan.closure_bytes);
        } else {
          plan.fn(saved, nullptr, static_cast<TensorImpl**>(plan.closure), {nullptr, 0});
          edge.has_destructor = true;
        }
        offset += align8(plan.closure_bytes);
        if (plan.input_count > node->joint_count) node->joint_count = plan.input_count;
        first = false;
      }
      edge.dims = std::uint16_t(offset);
      if (input->ndim) std::memcpy(node->at(offset), input->dims, 8u * input->ndim);
      offset += 8u * input->ndim;
    }
  }
  node->sequence = tape.sequence = sequence + 1;
  guard.node = nullptr;
  if (output->node) release_node(output->node);
  output->node = node;
}

TERN_NOINLINE TensorImpl* recorded(const CallSite& op, TensorImpl* y, TensorImpl* x, const EdgePlan& plan) {
  Owned held(y);
  if (const Node* const node = recording(x)) record_edges(op, node->ops, y, &plan, 1);
  return held.take();
}

}}}  // namespace tern::detail
