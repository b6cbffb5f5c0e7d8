// The functions of leaf_gradient.hpp that are not templates.
#pragma once
#include "leaf_gradient.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void GradLock::wait() {
  while (state_.exchange(awaited, std::memory_order_acquire) != open) state_.wait(awaited, std::memory_order_relaxed);
}

TERN_INLINE void accumulate_grad(Node* leaf, TensorImpl* g, bool differentiable) {
  Owned held(g);
  const GradLock lock(leaf);
  if (!leaf->gradient && !differentiable && !(sole_owner(g) && is_dense(*g))) {
    leaf->gradient = copied(*leaf->ops->device, g);
    return;
  }
  add_to(leaf->gradient, held.take(), leaf->ops, differentiable);
}

TERN_COLD void accumulate_grad_in(TensorImpl* memory, Node* leaf, TensorImpl* g) {
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

TERN_INLINE void zero_grad(Node* leaf, bool set_to_none) {
  if (!leaf || !leaf->gradient) return;
  if (set_to_none) return release(std::exchange(leaf->gradient, nullptr));
  // One with a graph of its own gets other memory, which the graph does not read.
  if (leaf->gradient->node) release(std::exchange(leaf->gradient, copied(*leaf->ops->device, leaf->gradient)));
  leaf->ops->fill(0, *leaf->gradient);
  bump_version(leaf->gradient);
}

TERN_COLD TensorImpl* run_hooks(Hook* hook, TensorImpl* g) {
  Owned shown(g);
  int count = 0;  // a hook that a hook registers is called from the next gradient on
  for (const Hook* h = hook; h; h = h->next) ++count;
  for (; hook && count > 0; hook = hook->next, --count) {
    Owned replacement(hook->call(hook->closure, shown.impl));
    const TensorImpl *const from = shown.impl, *const to = replacement.impl;
    if (!to) continue;
    if (!same_shape(*to, *from) || to->dtype != from->dtype)
      Error::fail("register_hook", {"a hook gave ", name_of(to->dtype), " ", to->shape_ref(),
                                    " in place of a gradient ", name_of(from->dtype), " ", from->shape_ref()});
    std::swap(shown.impl, replacement.impl);
  }
  return shown.take();
}

TERN_INLINE PendingLeaves::~PendingLeaves() {
  for (Leaf& p : table_) {
    release(p.gradient);
    if (p.leaf) release_node(p.leaf);
  }
}

TERN_INLINE void PendingLeaves::add(Node* leaf, TensorImpl* g, bool differentiable) {
  TensorImpl* const memory = leaf->extra->memory;
  if (memory && !differentiable) accumulate_grad_in(memory, leaf, g);
  else accumulate_grad(leaf, g, differentiable);
}

TERN_INLINE void PendingLeaves::grow() {
  const auto old = std::exchange(table_, std::vector<Leaf>(table_.empty() ? 16 : 2 * table_.size()));
  for (const Leaf& p : old)
    if (p.leaf) place_of(p.leaf) = p;
}

TERN_INLINE void PendingLeaves::count(Node* leaf) {
  if (2 * (used_ + 1) > table_.size()) grow();
  Leaf& p = place_of(leaf);
  if (!p.leaf) {
    p.leaf = leaf;
    leaf->refs.increase();
    ++used_;
  }
  ++p.edges;
}

TERN_INLINE void PendingLeaves::start() {
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

TERN_INLINE void PendingLeaves::arrive(Node* leaf, TensorImpl* g, bool differentiable) {
  Owned held(g);
  Leaf& p = place_of(leaf);
  if (!p.leaf) {  // its hooks were added after the edges were counted
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

TERN_COLD void PendingLeaves::finish(bool differentiable) {
  for (std::size_t i = 0; i < complete_.size(); ++i) finish(*complete_[i], differentiable);
  complete_.clear();
}

TERN_INLINE void PendingLeaves::finish(Leaf& p, bool differentiable) {
  NodeExtra& extra = *p.leaf->extra;
  if (p.gradient) add(p.leaf, run_hooks(extra.before, std::exchange(p.gradient, nullptr)), differentiable);
  if (p.reached)
    for (Hook* hook = extra.after_accumulate; hook; hook = hook->next) hook->call(hook->closure, p.leaf->gradient);
  if (extra.listener) extra.listener->on_ready(extra.place);
}

TERN_INLINE PendingLeaves::Leaf& PendingLeaves::place_of(const Node* leaf) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = (reinterpret_cast<std::uintptr_t>(leaf) >> 6) * 0x9E3779B97F4A7C15u >> 32 & mask;
  while (table_[at].leaf && table_[at].leaf != leaf) at = (at + 1) & mask;
  return table_[at];
}

}}}  // namespace tern::detail
