// Operations that write into their first argument. The tape sees the value before and after: the history is rewritten,
// and that of the base where a view is written.
#pragma once
#include "../autograd/record.hpp"
#include "../tensor/map.hpp"
#include "region.hpp"

namespace tern::detail {

/// Error where x must not be written: a leaf that the tape needs unchanged, or memory that several indices share.
[[gnu::noinline]] inline void check_writable(const char* op, TensorImpl* x) {
  if (tape.grad_mode) {
    const Node* const node = grad_node(x);
    if (node && node->leaf) fail(op, {"a leaf that requires a gradient cannot be changed in place; use NoGradGuard"});
    if (x->base && x->base->node && x->base->node->leaf)
      fail(op, {"a view of a leaf that requires a gradient cannot be changed in place; use NoGradGuard"});
  }
  if (may_overlap_itself(*x))
    fail(op, {"several elements of the written tensor are one memory location (an expanded view?); clone() it first"});
}

/// What y's op saved of the memory of x, which is about to be overwritten, is copied.
[[gnu::noinline]] inline void keep_old_values(const TensorImpl* y, const TensorImpl* x, const GradOps& ops) {
  if (!y->node || y->node->leaf) return;
  for (int i = 0; i < y->node->edge_count; ++i) {
    Edge& edge = y->node->edges()[i];
    auto* const saved = reinterpret_cast<Saved*>(y->node->at(edge.stored));
    for (int j = 0; j < edge.saved_count; ++j) {
      TensorImpl* const old = saved[j].impl;
      if (old->owner != x->owner) continue;
      TensorImpl* const copy = ops.copy(old);
      copy->node = old->node;
      if (copy->node) copy->node->refs.increase();
      saved[j] = {copy, copy->owner->version, false};
      release(old);
    }
  }
}

/// Writes y, computed from x, into x, and gives x the history of y.
template <class D, class T>
const Tensor<D, T>& assign(const OpName& op, const Tensor<D, T>& x, const Tensor<D, T>& y) {
  TensorImpl* const p = x.impl();
  if (!same_shape(*p, *y.checked(op.name)))
    fail(op.name,
         {"a result of shape ", y.impl()->shape_ref(), " cannot be written into a tensor of shape ", p->shape_ref()});
  if constexpr (is_floating_v<T>) {
    if (tape.grad_mode) keep_old_values(y.impl(), p, GradOpsFor<D, T>::table);
  }
  backend::copy(D{}, *p, *y.impl());
  if constexpr (is_floating_v<T>) {
    if (records(x, y) || (p->base && tape.grad_mode && p->base->node)) {
      Node* const history = y.impl()->node;
      if (p->base) {
        p->base->refs.increase();
        const Tensor<D, T> base(p->base);
        const Region region = region_of(*p, *p->base);
        record(op, base, wrt(base, [region](const Tensor<D, T>& g) { return clear_region(g, region); }),
               wrt(y, [region](const Tensor<D, T>& g) { return take_region(g, region); }));
      } else {
        if (history) history->refs.increase();
        if (p->node) release_node(p->node);
        p->node = history;
      }
    }
  }
  bump_version(p);  // after the base's history is written: a view's own is made anew from it when the versions differ
  return x;
}

}  // namespace tern::detail
