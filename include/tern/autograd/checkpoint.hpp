// Activation checkpointing, which saves memory and costs time (Chen, Xu, Zhang, Guestrin: "Training deep nets with
// sublinear memory cost", 2016).
//
// The function is recorded on the tape as usual. Then its ops release their saved tensors. When the backward pass
// reaches the first of these ops, the function is called again. The tensors that the second graph saved move to the
// first graph, node by node. So hooks, grad(), create_graph and parameters that the function uses work as without a
// checkpoint.
#pragma once
#include <tuple>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "record.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

using Impls = std::vector<TensorImpl*>;

/// What calling the function again needs, and the function's ops. The ops own it together.
struct CheckpointSegment : Recompute {
  void (*run)(CheckpointSegment* segment, Impls& outputs);  // new references
  void (*destroy)(CheckpointSegment* segment);
  Impls inputs;                         // borrowed: the arguments of the function hold them
  std::vector<std::uint32_t> versions;  // of the inputs
  RandomState random;
  std::uint64_t newest = 0;  // the largest sequence number; a member, since the backward pass may run in another thread
  std::vector<Node*> nodes;  // indexed by the op's number; null once the op is gone
  std::size_t alive = 0;
};

template <class X>
void add_impls(Impls& impls, const X& x) {
  if constexpr (requires { x.impl(); }) {
    if (x.impl()) impls.push_back(x.impl());
  } else if constexpr (requires { x.begin(); }) {
    for (const auto& element : x) add_impls(impls, element);
  } else if constexpr (requires { std::tuple_size<X>::value; }) {
    std::apply([&](const auto&... element) { (add_impls(impls, element), ...); }, x);
  }
}

/// Returns a sequence number. Ops recorded from now on have larger ones; the ops that the inputs come from do not.
template <class = void>
std::uint64_t begin_segment(const Impls& inputs) {
  for (TensorImpl* const x : inputs)
    if (const Node* const node = grad_node(x); node && node->sequence > tape.sequence) tape.sequence = node->sequence;
  return tape.sequence;
}

/// The ops that the outputs come from and that were recorded after `since`. Their order depends only on the graph.
template <class = void>
std::vector<Node*> nodes_since(std::uint64_t first, const Impls& outputs) {
  std::vector<Node*> nodes;
  const auto visit = [&](Node* node) {
    if (!node || node->leaf || node->sequence <= first || node->queued) return;
    node->queued = true;  // already in the list
    nodes.push_back(node);
  };
  for (TensorImpl* const y : outputs) visit(y->node);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (int k = 0; k < nodes[i]->edge_count; ++k) visit(nodes[i]->edges()[k].next);
  for (Node* const node : nodes) node->queued = false;
  return nodes;
}

/// Calls f(saved) for every tensor that an op saved.
template <class F>
void each_saved(Node* node, const F& f) {
  for (int k = 0; k < node->edge_count; ++k) {
    Edge& edge = node->edges()[k];
    for (int j = 0; j < edge.saved_count; ++j) f(reinterpret_cast<Saved*>(node->at(edge.stored))[j]);
  }
}

template <class = void>
void forget_node(Recompute* self, std::uint32_t place) {
  auto* const segment = static_cast<CheckpointSegment*>(self);
  segment->nodes[place] = nullptr;
  if (--segment->alive == 0) segment->destroy(segment);
}

/// Makes the ops members of the segment and releases their saved tensors. Ops of an inner segment, from a checkpoint
/// inside a checkpoint, change over to this one.
template <class = void>
void empty_nodes(CheckpointSegment* segment, std::vector<Node*> nodes) {
  segment->alive = nodes.size();
  segment->nodes = std::move(nodes);
  for (std::size_t i = 0; i < segment->nodes.size(); ++i) {
    Node* const node = segment->nodes[i];
    each_saved(node, [](Saved& saved) { release(std::exchange(saved.impl, nullptr)); });
    NodeExtra& extra = extra_of(node);
    if (extra.recompute) extra.recompute->forget(extra.recompute, extra.place);
    extra.recompute = segment;
    extra.place = std::uint32_t(i);
    if (node->sequence > segment->newest) segment->newest = node->sequence;
  }
}

/// Replaces the node of a tensor of the second graph by the same op's node in the first graph. The sequence number of a
/// node in the second graph is its position.
template <class = void>
void move_to_first_graph(TensorImpl* x, const std::vector<Node*>& second, const std::vector<Node*>& first) {
  Node* const node = x ? x->node : nullptr;
  if (!node || node->leaf || node->sequence >= second.size() || second[node->sequence] != node) return;
  Node* const same = first[node->sequence];
  if (!same) return;
  same->refs.increase();
  x->node = same;
  release_node(node);
}

/// Moves the tensors that the ops of the second graph saved to those of the first.
template <class = void>
void refill(CheckpointSegment* segment, const std::vector<Node*>& second) {
  const std::vector<Node*>& first = segment->nodes;
  bool same = first.size() == second.size();
  for (std::size_t i = 0; same && i < first.size(); ++i) {
    if (!first[i]) continue;
    same = first[i]->edge_count == second[i]->edge_count && first[i]->site.name() == second[i]->site.name();
    for (int k = 0; same && k < first[i]->edge_count; ++k)
      same = first[i]->edges()[k].saved_count == second[i]->edges()[k].saved_count;
  }
  if (!same)
    Error::fail("checkpoint", {"the function did something else when it was called again: ", Index(second.size()),
                               " ops, at first ", Index(first.size())});
  for (std::size_t i = 0; i < second.size(); ++i) second[i]->sequence = i;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i]) continue;
    for (int k = 0; k < first[i]->edge_count; ++k) {
      auto* const to = reinterpret_cast<Saved*>(first[i]->at(first[i]->edges()[k].stored));
      auto* const from = reinterpret_cast<Saved*>(second[i]->at(second[i]->edges()[k].stored));
      for (int j = 0; j < first[i]->edges()[k].saved_count; ++j) {
        std::swap(to[j], from[j]);
        move_to_first_graph(to[j].impl, second, first);
      }
    }
    NodeExtra& extra = *first[i]->extra;
    extra.recompute = nullptr;
    if (!second[i]->extra || !second[i]->extra->recompute) continue;
    extra.recompute = std::exchange(second[i]->extra->recompute, nullptr);  // non-null in an inner segment
    extra.place = second[i]->extra->place;
    auto* const inner = static_cast<CheckpointSegment*>(extra.recompute);
    inner->nodes[extra.place] = first[i];
    for (TensorImpl* const x : inner->inputs) move_to_first_graph(x, second, first);
  }
}

/// Calls the function again, with the same random numbers.
template <class = void>
void fill_segment(Recompute* self) {
  auto* const segment = static_cast<CheckpointSegment*>(self);
  for (std::size_t i = 0; i < segment->inputs.size(); ++i)
    if (segment->inputs[i]->owner->version != segment->versions[i])
      Error::fail("checkpoint", {"input ", Index(i), " was modified in place before the backward pass"});
  struct Call {
    RandomState before = random_state();
    Impls outputs;
    ~Call() {
      set_random_state(before);
      for (TensorImpl* const y : outputs) release(y);
    }
  } call;
  {
    const GradMode on(true);
    if (tape.sequence < segment->newest) tape.sequence = segment->newest;
    const std::uint64_t first = begin_segment(segment->inputs);
    set_random_state(segment->random);
    segment->run(segment, call.outputs);
    refill(segment, nodes_since(first, call.outputs));
  }
  segment->destroy(segment);
}

/// The segment of one call.
template <class F, class... X>
struct CheckpointSegmentOf : CheckpointSegment {
  F f;
  std::tuple<X...> arguments;

  CheckpointSegmentOf(const F& function, const X&... x) : f(function), arguments(x...) {
    fill = &fill_segment<>;
    forget = &forget_node<>;
    run = [](CheckpointSegment* self, Impls& outputs) {
      auto& segment = *static_cast<CheckpointSegmentOf*>(self);
      const auto result = std::apply(segment.f, segment.arguments);
      add_impls(outputs, result);
      for (TensorImpl* const y : outputs) retain(y);
    };
    destroy = [](CheckpointSegment* self) { delete static_cast<CheckpointSegmentOf*>(self); };
    add_impls(inputs, arguments);
    for (TensorImpl* const x_impl : inputs) versions.push_back(x_impl->owner->version);
    random = random_state();
  }
};

}  // namespace detail

/// f(x...), a tensor or several. The tensors that its backward pass needs are not kept; the backward pass calls f again
/// with the same random numbers. The gradients are bit for bit those of f(x...). f must do the same both times, and
/// everything that it refers to must live until then: torch.utils.checkpoint.checkpoint(f, *x).
template <class F, class... X>
auto checkpoint(const F& f, const X&... x) {
  if (!GradMode::is_enabled()) return f(x...);
  auto* const segment = new detail::CheckpointSegmentOf<std::decay_t<F>, X...>(f, x...);
  struct Guard {
    detail::CheckpointSegment* segment;
    ~Guard() {
      if (segment) segment->destroy(segment);
    }
  } guard{segment};
  const std::uint64_t first = detail::begin_segment(segment->inputs);
  auto result = f(x...);
  detail::Impls outputs;
  detail::add_impls(outputs, result);
  std::vector<detail::Node*> nodes = detail::nodes_since(first, outputs);
  if (nodes.empty()) return result;
  guard.segment = nullptr;
  detail::empty_nodes(segment, std::move(nodes));
  return result;
}

}}  // namespace tern
