// The records of the tape: one node for each recorded op or leaf, with one edge for each input that needs a gradient.
#pragma once
#include "../core/call_site.hpp"
#include "../tensor/impl.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// The arithmetic that the engine needs. One constant table for each device and element type.
struct GradOps {
  void (*accumulate)(TensorImpl*& sum, TensorImpl* g, bool differentiable);  // sum += g; takes g
  void (*add_in_place)(TensorImpl* sum, TensorImpl* g);                      // sum += g in sum's own memory; takes g
  TensorImpl* (*sum_to)(TensorImpl* g, ShapeRef shape);                      // takes g
  void (*fill)(double value, const Array& out);
  bool (*has_nan)(const TensorImpl* g);
  void (*record_view)(TensorImpl* view);  // writes the node of a view anew, from its base
  const DeviceOps* device;
};

/// The function of an edge. fn(stored, gradient of the output, gradients of the inputs, this input's sizes) computes
/// the gradient of this edge and of the `joint` edges after it. If gradient is null, it destroys what is stored, or
/// moves it in from *inputs.
using EdgeFunction = void (*)(void* stored, TensorImpl* gradient, TensorImpl** inputs, ShapeRef shape);

struct Edge {
  Node* next;            // the input's node, held
  EdgeFunction fn;       // null if an earlier edge computes this one's gradient too
  std::uint16_t stored;  // offset from the node: saved tensors, then the closure
  std::uint16_t dims;    // offset from the node: the input's sizes
  std::uint8_t ndim;
  std::uint8_t slot;  // index of this input among fn's results
  std::uint8_t saved_count;
  bool has_destructor;
};

inline constexpr int max_saved =
    9;  // tensors of one gradient function; the derivative of a fused op of eight tensors saves these and its gradient
}

namespace detail {
/// A tensor saved for the backward pass, and its version at that time.
struct Saved {
  TensorImpl* impl;
  std::uint32_t version;
  bool is_output;  // an alias of the op's own output; the output itself would keep its own graph alive
};

struct NodeExtra;

struct Node {
  RefCount refs;
  std::uint8_t edge_count = 0;
  std::uint8_t size_class : 7 = 0;  // constant once other threads can see the node
  bool leaf : 1 = false;            // constant likewise
  std::uint8_t joint_count = 0;     // the largest number of results of one edge function
  bool freed : 1 = false;           // written by the pass that owns the node
  bool queued : 1 = false;          // likewise: true while an op is in the ready queue
  std::atomic<std::uint32_t> owner =
      0;                       // an op: the number of the pass that owns it; a leaf: the state of its GradLock
  std::uint64_t sequence = 0;  // larger than the sequence number of every input
  CallSite site = CallSite::unknown;
  const GradOps* ops = nullptr;  // for the output's device and type
  union {
    TensorImpl* gradient = nullptr;  // a leaf: the user's grad(); an op: the sum that has arrived in this pass
    Node* next_dead;                 // used while the node is being destroyed
  };
  NodeExtra* extra = nullptr;  // hooks, a listener, a retained gradient: rare

  Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
  char* at(std::size_t offset) { return reinterpret_cast<char*>(this) + offset; }
};
}  // namespace detail

static_assert(sizeof(detail::Node) == 64, "a leaf is one block of the smallest size");

namespace detail {
/// A hook on a gradient, type-erased. call(closure, gradient) returns a replacement, or null to keep the gradient.
struct Hook {
  TensorImpl* (*call)(void* closure, TensorImpl* tensor);
  void (*destroy)(void* closure);
  void* closure;
  Hook* next;
};

/// Recomputes the saved tensors of the ops inside a checkpoint().
struct Recompute {
  void (*fill)(Recompute* self);                         // fills them all in, when the first is needed
  void (*forget)(Recompute* self, std::uint32_t place);  // the op of that number is gone, or has its saved tensors
};
}  // namespace detail

class GradListener;

namespace detail {
struct NodeExtra {
  Recompute* recompute = nullptr;    // of an op inside a checkpoint(), while its saved tensors are released
  GradListener* listener = nullptr;  // of a leaf
  std::uint32_t place = 0;           // the node's number in recompute or listener
  TensorImpl* memory = nullptr;      // of a leaf: the memory in which its gradient is accumulated
  Hook* before = nullptr;            // run on a complete gradient
  Hook* after_accumulate = nullptr;  // of a leaf
  bool retain_gradient = false;      // of an op
  TensorImpl* retained = nullptr;
};

/// The tape's state in this thread.
struct TapeState {
  bool grad_mode = true;
  bool anomaly_mode = false;
  bool destroying = false;
  std::uint64_t sequence = 0;
  Node* dead = nullptr;
  std::uint32_t pass = 1023;       // the number of this thread's last pass
  TensorImpl* given_up = nullptr;  // the gradient that the edge function in progress may overwrite with its result
};
extern TERN_API constinit thread_local TapeState tape;

extern TERN_API constinit std::atomic<std::uint32_t> pass_numbers;  // the next free block of 1024 numbers

/// A number for a backward pass. It is not 0, and no other running pass has it.
inline std::uint32_t new_pass_number() {
  if (++tape.pass % 1024 == 0) tape.pass = pass_numbers.fetch_add(1024, std::memory_order_relaxed) + 1;
  return tape.pass;
}

/// Destroys what an edge stores. Calling it again does nothing.
TERN_API void clear_edge(Node* node, Edge& edge);

TERN_API void destroy_hooks(Hook* hook);

TERN_API void destroy_extra(NodeExtra* extra);

inline NodeExtra& extra_of(Node* node) {
  if (!node->extra) node->extra = new NodeExtra;
  return *node->extra;
}

TERN_API void destroy_dead_nodes();

/// Releases through a list instead of by recursion, so that a chain of a million nodes does not overflow the stack.
TERN_API void release_node(Node* node);

TERN_API Node* new_node(const CallSite& site, const GradOps* ops, std::size_t bytes);

inline Node* new_leaf(const GradOps* ops) {
  Node* node = new_node({"leaf", CallSite::unknown}, ops, sizeof(Node));
  node->leaf = true;
  return node;
}

}  // namespace detail

/// While alive, this thread records nothing. Results do not require a gradient.
class NoGradGuard {
 public:
  NoGradGuard() : before_(detail::tape.grad_mode) { detail::tape.grad_mode = false; }
  ~NoGradGuard() { detail::tape.grad_mode = before_; }
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;

 private:
  bool before_;
};

/// While alive, this thread records or does not, as the argument says. It can turn recording on inside a NoGradGuard.
class GradMode {
 public:
  explicit GradMode(bool on) : before_(detail::tape.grad_mode) { detail::tape.grad_mode = on; }
  ~GradMode() { detail::tape.grad_mode = before_; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  static bool is_enabled() { return detail::tape.grad_mode; }

 private:
  bool before_;
};

/// LibTorch's name of it.
using AutoGradMode = GradMode;

/// True if this thread records.
inline bool is_grad_enabled() { return GradMode::is_enabled(); }

/// Like NoGradGuard, but tensors made in it can never be saved for a backward pass.
class InferenceMode {
 public:
  InferenceMode() : grad_(false), before_(detail::inference_mode) { detail::inference_mode = true; }
  ~InferenceMode() { detail::inference_mode = before_; }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return detail::inference_mode; }

 private:
  GradMode grad_;
  bool before_;
};

/// While alive, a backward pass of this thread fails at the first NaN. The Error names the op and the line of its
/// forward call.
class AnomalyMode {
 public:
  AnomalyMode() : before_(detail::tape.anomaly_mode) { detail::tape.anomaly_mode = true; }
  ~AnomalyMode() { detail::tape.anomaly_mode = before_; }
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  bool before_;
};

}}  // namespace tern

#ifndef TERN_COMPILED
#include "node.ipp"
#endif
