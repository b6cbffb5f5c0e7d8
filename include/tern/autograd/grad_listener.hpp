// Who wants to know when gradients of leaves are complete, in the middle of the backward pass: what exchanges gradients between
// processes while the rest of the pass computes.
#pragma once
#include <utility>
#include <vector>

#include "../tensor/any_tensor.hpp"
#include "node.hpp"

namespace tern::inline TERN_BUILD {

namespace detail {
class PendingLeaves;
}

/// Told of its leaves by every backward() that brings a gradient to any of them, in the thread that called backward(). grad() tells
/// nothing. A pass that fails tells nothing more; the next one starts with on_start() again. Make and destroy it while no pass runs.
class TERN_API GradListener {
 public:
  /// Listens to these leaves, which are called by their places in this list from here on. Error where one is no leaf that requires a
  /// gradient, or has a listener already.
  explicit GradListener(std::vector<AnyTensor> leaves) : leaves_(std::move(leaves)) {
    listened_.reserve(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i) listened_.emplace_back(this, std::uint32_t(i), leaves_[i]);
  }
  virtual ~GradListener() {}
  GradListener(const GradListener&) = delete;
  GradListener& operator=(const GradListener&) = delete;

  const std::vector<AnyTensor>& leaves() const { return leaves_; }

  /// backward() accumulates the leaf's gradient in this memory, a part of a larger tensor, say, and makes it the leaf's grad(); an
  /// undefined tensor ends that. With create_graph a gradient has a graph, and memory of its own. Error where memory has another
  /// device, element type or shape than the leaf.
  void accumulate_into(std::size_t leaf, const AnyTensor& memory);

  /// The pass has begun, and reaches all leaves but these. Before any on_ready of the pass.
  virtual void on_start(const std::vector<std::size_t>& unused) { (void)unused; }
  /// The leaf's grad() holds all that this pass adds to it, and the leaf's own hooks have run. Once for each leaf that is reached,
  /// also where the functions on the way give no gradient.
  virtual void on_ready(std::size_t leaf) = 0;

 private:
  friend class detail::PendingLeaves;

  /// A leaf's node, which has a listener while this lives.
  struct Listened {
    Node* node = nullptr;

    Listened(GradListener* listener, std::uint32_t place, const AnyTensor& leaf) {
      Node* const own = leaf.defined() ? leaf.impl()->node : nullptr;
      if (!own || !own->leaf) fail("GradListener", {"tensor ", Index(place), " is not a leaf that requires a gradient"});
      if (own->extra && own->extra->listener) fail("GradListener", {"leaf ", Index(place), " has a listener already"});
      NodeExtra& extra = detail::extra_of(own);
      extra.listener = listener;
      extra.place = place;
      own->refs.increase();
      node = own;
    }
    Listened(Listened&& other) noexcept : node(std::exchange(other.node, nullptr)) {}
    ~Listened() {
      if (!node) return;
      NodeExtra& extra = *node->extra;
      extra.listener = nullptr;
      detail::release(std::exchange(extra.memory, nullptr));
      if (!extra.before && !extra.after_accumulate) delete std::exchange(node->extra, nullptr);
      detail::release_node(node);
    }
  };

  static void check_memory(const AnyTensor& leaf, const AnyTensor& memory);

  std::vector<AnyTensor> leaves_;
  std::vector<Listened> listened_;
};

}  // namespace tern

#ifndef TERN_COMPILED
#include "grad_listener.ipp"
#endif
