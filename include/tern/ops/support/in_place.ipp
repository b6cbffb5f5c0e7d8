// The functions of in_place.hpp that are not templates.
#pragma once
#include "in_place.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_writable(const CallSite& op, TensorImpl* x) {
  if (tape.grad_mode) {
    const Node* const node = grad_node(x);
    if (node && node->leaf)
      Error::fail(op, {"a leaf that requires a gradient cannot be changed in place; use NoGradGuard"});
    if (x->base && x->base->node && x->base->node->leaf)
      Error::fail(op, {"a view of a leaf that requires a gradient cannot be changed in place; use NoGradGuard"});
  }
  if (may_overlap_itself(*x))
    Error::fail(
        op, {"several elements of the written tensor are one memory location (an expanded view?); clone() it first"});
  if (x->read_only)
    Error::fail(op, {"the memory is read only: from_blob() was given a pointer to const; clone() copies it"});
  if (x->pinned) finish_copies(x);
}

TERN_NOINLINE void keep_old_values(const TensorImpl* y, const TensorImpl* x, const GradOps& ops) {
  if (!y->node || y->node->leaf) return;
  for (int i = 0; i < y->node->edge_count; ++i) {
    Edge& edge = y->node->edges()[i];
    auto* const saved = reinterpret_cast<Saved*>(y->node->at(edge.stored));
    for (int j = 0; j < edge.saved_count; ++j) {
      TensorImpl* const old = saved[j].impl;
      if (old->owner != x->owner) continue;
      TensorImpl* const copy = copied(*ops.device, old);
      copy->node = old->node;
      if (copy->node) copy->node->refs.increase();
      saved[j] = {copy, copy->owner->version, false};
      release(old);
    }
  }
}

TERN_NOINLINE void rewrite_history(const CallSite& op, TensorImpl* x, TensorImpl* y, const GradOps* ops) {
  TensorImpl* const base = x->base;
  if (!grad_node(x) && !grad_node(y) && !(base && base->node)) return;
  if (base) {
    Region cleared = region_of(*x, *base, RegionOp::clear, ops), taken = region_of(*x, *base, RegionOp::take, ops);
    const EdgePlan plans[] = {plain_edge(base, cleared), plain_edge(y, taken)};
    return record_edges(op, ops, base, plans, 2);
  }
  if (y->node) y->node->refs.increase();
  if (x->node) release_node(x->node);
  x->node = y->node;
}

TERN_NOINLINE void assign(const CallSite& op, TensorImpl* x, TensorImpl* y, const DeviceOps& device,
                          const GradOps* ops) {
  if (!same_shape(*x, *y))
    Error::fail(op,
                {"a result of shape ", y->shape_ref(), " cannot be written into a tensor of shape ", x->shape_ref()});
  const bool records = ops && tape.grad_mode;
  if (records) keep_old_values(y, x, *ops);
  device.copy(*x, *y);
  if (records) rewrite_history(op, x, y, ops);
  bump_version(x);  // last, because a view whose version differs gets a new node from its base's history
}

}}}  // namespace tern::detail
