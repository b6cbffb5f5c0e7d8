// The functions of node.hpp that are not templates.
#pragma once
#include "node.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit thread_local TapeState tape{};

TERN_INLINE constinit std::atomic<std::uint32_t> pass_numbers = 0;

TERN_INLINE void clear_edge(Node* node, Edge& edge) {
  auto* saved = reinterpret_cast<Saved*>(node->at(edge.stored));
  for (int i = 0; i < edge.saved_count; ++i) release(saved[i].impl);
  if (edge.has_destructor) {
    edge.has_destructor = false;
    edge.fn(saved, nullptr, nullptr, {nullptr, 0});
  }
  edge.saved_count = 0;
}

TERN_INLINE void destroy_hooks(Hook* hook) {
  while (hook) {
    Hook* const next = hook->next;
    hook->destroy(hook->closure);
    delete hook;
    hook = next;
  }
}

TERN_NOINLINE void destroy_extra(NodeExtra* extra) {
  destroy_hooks(extra->before);
  destroy_hooks(extra->after_accumulate);
  release(extra->retained);
  release(extra->memory);
  if (extra->recompute) extra->recompute->forget(extra->recompute, extra->place);
  delete extra;
}

TERN_NOINLINE void destroy_dead_nodes() {
  tape.destroying = true;
  while (Node* node = tape.dead) {
    tape.dead = node->next_dead;
    for (int i = 0; i < node->edge_count; ++i) {
      Edge& edge = node->edges()[i];
      clear_edge(node, edge);
      if (edge.next) release_node(edge.next);
    }
    if (node->extra) destroy_extra(node->extra);
    detail::memory::deallocate(node, node->size_class);
  }
  tape.destroying = false;
}

TERN_INLINE void release_node(Node* node) {
  if (!node->refs.decrease()) return;
  TensorImpl* const gradient = node->gradient;
  node->next_dead = tape.dead;
  tape.dead = node;
  if (!tape.destroying) destroy_dead_nodes();
  release(gradient);
}

TERN_NOINLINE Node* new_node(const CallSite& site, const GradOps* ops, std::size_t bytes) {
  const int size_class = detail::memory::class_of(bytes);
  auto* node = new (detail::memory::allocate(size_class, bytes)) Node;
  node->size_class = size_class & 0x7f;
  node->site = site;
  node->ops = ops;
  return node;
}

}}}  // namespace tern::detail
