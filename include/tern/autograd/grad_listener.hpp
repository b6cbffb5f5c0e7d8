// Tells a listener during the backward pass when the gradients of its leaves are complete. So processes can exchange
// gradients while the rest of the pass computes.
#pragma once
#include <utility>
#include <vector>

#include "../tensor/any_tensor.hpp"
#include "node.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
class PendingLeaves;
}

/// Hears of its leaves in every backward() that reaches any of them, in the thread that called backward(). grad()
/// reports nothing. A pass that fails reports nothing more; the next pass starts with on_start() again. Construct and
/// destroy it only while no pass runs.
class TERN_API GradListener {
 public:
  /// Listens to these leaves. Their positions in this list identify them. Error if one is not a leaf that requires a
  /// gradient, or already has a listener.
  explicit GradListener(std::vector<AnyTensor> leaves);
  [[gnu::cold]] TERN_KEY virtual ~GradListener();
  GradListener(const GradListener&) = delete;
  GradListener& operator=(const GradListener&) = delete;

  const std::vector<AnyTensor>& leaves() const { return leaves_; }

  /// Makes backward() accumulate the leaf's gradient in this memory, for example a part of a larger tensor. The memory
  /// becomes the leaf's grad(). An undefined tensor ends that. With create_graph, the gradient has a graph and lies in
  /// memory of its own. Error if the memory's device, element type or shape differs from the leaf's.
  void accumulate_into(std::size_t leaf, const AnyTensor& memory);
  /// Makes that memory the leaf's grad() as it is, whether a pass has reached the leaf or not. Error if there is none.
  void adopt_memory(std::size_t leaf);

  /// The pass has begun. It reaches all leaves but these. Called before any on_ready of the pass.
  virtual void on_start(const std::vector<std::size_t>& unused) { (void)unused; }
  /// The leaf's grad() is complete for this pass, and the leaf's own hooks have run. Called once for each leaf that the
  /// pass reaches, even if no gradient arrives there.
  virtual void on_ready(std::size_t leaf) = 0;

 private:
  friend class detail::PendingLeaves;

  /// Marks a leaf's node as having this listener, while this lives.
  struct Listened {
    detail::Node* node = nullptr;

    Listened(GradListener* listener, std::uint32_t place, const AnyTensor& leaf);
    Listened(Listened&& other) noexcept : node(std::exchange(other.node, nullptr)) {}
    ~Listened();
  };

  static void check_memory(const AnyTensor& leaf, const AnyTensor& memory);

  std::vector<AnyTensor> leaves_;
  std::vector<Listened> listened_;
};

}}  // namespace tern

#ifndef TERN_COMPILED
#include "grad_listener.ipp"
#endif
