// The tape as users see it: backward, grad, leaves, hooks.
#pragma once
#include <concepts>
#include <memory>
#include <optional>

#include "engine.hpp"
#include "record.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The gradient that a pass starts from: the given one, or ones.
TERN_API TensorImpl* seed_gradient(const char* op, TensorImpl* output, TensorImpl* gradient);

TERN_API void backward(TensorImpl* output, TensorImpl* gradient, bool retain_graph, bool create_graph,
                       const CallSite& here);

/// Makes a tensor a leaf that requires a gradient; with on = false, one that does not.
TERN_API void require_grad(TensorImpl* p, bool on, const GradOps* ops, const CallSite& here = CallSite::unknown);

inline void append_hook(Hook*& list, Hook* hook) {
  Hook** end = &list;
  while (*end) end = &(*end)->next;
  *end = hook;
}

/// What a tensor's hook and its handle share.
struct RemovableHook {
  virtual ~RemovableHook() = default;
  virtual void drop() = 0;  // what the hook holds

  void remove() {
    removed = true;
    if (running == 0) drop();
  }

  bool removed = false;
  int running = 0;  // how many calls of it there are, one within the other
};

template <class F>
struct HookOf : RemovableHook {
  explicit HookOf(F g) : f(std::move(g)) {}
  void drop() override { f.reset(); }

  std::optional<F> f;
};

/// A call of a hook, at whose end a hook that was removed meanwhile lets go of what it holds.
struct HookCall {
  explicit HookCall(RemovableHook& called) : hook(called) { ++hook.running; }
  ~HookCall() {
    if (--hook.running == 0 && hook.removed) hook.drop();
  }
  RemovableHook& hook;
};

/// Appends f to a list of hooks; f takes a Tensor<D, T> and returns nothing or a replacement.
template <class D, class T, class F>
std::shared_ptr<RemovableHook> append_hook(Hook*& list, F f) {
  using Shared = std::shared_ptr<HookOf<F>>;
  const auto call = [](void* closure, TensorImpl* impl) -> TensorImpl* {
    const Shared hook = *static_cast<Shared*>(closure);
    if (hook->removed) return nullptr;
    const HookCall scope(*hook);
    const Borrowed<Tensor<D, T>> argument(impl);
    if constexpr (std::is_void_v<decltype((*hook->f)(argument.tensor))>) {
      (*hook->f)(argument.tensor);
      return nullptr;
    } else {
      return Tensor<D, T>((*hook->f)(argument.tensor)).release();
    }
  };
  auto hook = std::make_shared<HookOf<F>>(std::move(f));
  append_hook(list,
              new Hook{call, [](void* closure) { delete static_cast<Shared*>(closure); }, new Shared(hook), nullptr});
  return hook;
}

/// The gradient that x holds, not retained; null if there is none.
inline TensorImpl* kept_gradient(const TensorImpl* x) {
  const Node* const node = x->node;
  if (!node) return nullptr;
  if (node->leaf) return node->gradient;
  return node->extra ? node->extra->retained : nullptr;
}

}  // namespace detail

template <Device D, Element T>
Tensor<D, T>& Tensor<D, T>::requires_grad_(bool on, CallSite here) {
  static_assert(detail::is_floating_v<T>, "only floating-point tensors can require a gradient");
  detail::require_grad(checked({"requires_grad_", here}), on, &detail::GradOpsFor<D, T>::table, here);
  return *this;
}

template <Device D, Element T>
bool Tensor<D, T>::is_leaf(CallSite here) const {
  const detail::Node* const node = checked({"is_leaf", here})->node;
  return !node || node->leaf;
}

template <Device D, Element T>
Tensor<D, T> Tensor<D, T>::grad(CallSite here) const {
  detail::TensorImpl* const gradient = detail::kept_gradient(checked({"grad", here}));
  detail::retain(gradient);
  return Tensor(gradient);
}

template <Device D, Element T>
void Tensor<D, T>::set_grad(const Tensor& gradient, CallSite here) const {
  const CallSite op{"set_grad", here};
  const detail::TensorImpl *const p = checked(op), *const g = gradient.impl();
  detail::Node* const node = p->node;
  if (!node || !node->leaf) Error::fail(op, {"the tensor is not a leaf that requires a gradient"});
  if (g && !detail::same_shape(*p, *g))
    Error::fail(op, {"the gradient's shape ", g->shape_ref(), " differs from the tensor's ", p->shape_ref()});
  detail::release(std::exchange(node->gradient, Tensor(gradient).release()));
}

template <Device D, Element T>
void Tensor<D, T>::retain_grad(CallSite here) const {
  detail::Node* const node = checked({"retain_grad", here})->node;
  if (!node) Error::fail({"retain_grad", here}, {"the tensor does not require a gradient"});
  if (!node->leaf) detail::extra_of(node).retain_gradient = true;
}

template <Device D, Element T>
bool Tensor<D, T>::retains_grad(CallSite here) const {
  const detail::Node* const node = checked({"retains_grad", here})->node;
  return node && !node->leaf && node->extra && node->extra->retain_gradient;
}

template <Device D, Element T>
template <class F>
TensorHook Tensor<D, T>::register_hook(F f, CallSite here) const {
  if (!checked({"register_hook", here})->node)
    Error::fail({"register_hook", here}, {"the tensor does not require a gradient"});
  return TensorHook(detail::append_hook<D, T>(detail::extra_of(impl_->node).before, std::move(f)));
}

template <Device D, Element T>
template <class F>
TensorHook Tensor<D, T>::register_post_accumulate_grad_hook(F f, CallSite here) const {
  const CallSite op{"register_post_accumulate_grad_hook", here};
  detail::Node* const node = checked(op)->node;
  if (!node || !node->leaf) Error::fail(op, {"the tensor is not a leaf that requires a gradient"});
  return TensorHook(detail::append_hook<D, T>(detail::extra_of(node).after_accumulate, std::move(f)));
}

template <Device D, Element T>
void Tensor<D, T>::backward(const Tensor& gradient, bool retain_graph, bool create_graph, CallSite here) const {
  detail::backward(checked({"backward", here}), gradient.impl(), retain_graph, create_graph, here);
}

template <Device D, Element T>
template <std::same_as<BackwardOptions> Options>
void Tensor<D, T>::backward(const Tensor& gradient, const Options& options, CallSite here) const {
  backward(gradient, options.retain_graph, options.create_graph, here);
}
template <Device D, Element T>
template <std::same_as<BackwardOptions> Options>
void Tensor<D, T>::backward(const Options& options, CallSite here) const {
  backward(Tensor(), options, here);
}

namespace detail {
/// One gradient, or one for each output in a std::vector or in braces.
template <class D, class T>
struct GradOutputs : std::vector<Tensor<D, T>> {
  GradOutputs() = default;
  GradOutputs(const Tensor<D, T>& gradient) : GradOutputs::vector{gradient} {}
  GradOutputs(std::vector<Tensor<D, T>> gradients) : GradOutputs::vector(std::move(gradients)) {}
  GradOutputs(std::initializer_list<Tensor<D, T>> gradients) : GradOutputs::vector(gradients) {}
};
}  // namespace detail

/// The options of grad().
template <class D, class T>
struct GradOptions {
  detail::GradOutputs<D, T> grad_outputs = {};  // what the outputs' sum is weighted by; ones where none are given
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  // an input that no output depends on gets an undefined gradient instead of an Error
};

namespace detail {
template <class D, class T>
using GradOptionsOf = std::type_identity_t<GradOptions<D, T>>;  // which braces make: D and T come from the output

/// Runs the pass from the outputs. No gradients stand for ones.
template <class D, class T>
void run_from(Backward& pass, const char* op, const std::vector<Tensor<D, T>>& outputs,
              const std::vector<Tensor<D, T>>& gradients) {
  if (!gradients.empty() && gradients.size() != outputs.size())
    Error::fail(op, {Index(outputs.size()), " outputs but ", Index(gradients.size()), " gradients"});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TensorImpl* const output = outputs[i].checked(op);
    TensorImpl* const seed = seed_gradient(op, output, gradients.empty() ? nullptr : gradients[i].impl());
    pass.start(output->node, seed);
  }
  pass.run();
}
}  // namespace detail

/// d(sum of outputs · gradients)/d(inputs). It leaves every leaf's grad() as it is. An undefined gradient stands for
/// ones.
template <class D, class T>
std::vector<Tensor<D, T>> grad(const std::vector<Tensor<D, T>>& outputs, const std::vector<Tensor<D, T>>& inputs,
                               const std::vector<Tensor<D, T>>& gradients = {},
                               detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  const CallScope scope(here);
  detail::Backward pass(options.retain_graph || options.create_graph, options.create_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    detail::Node* const node = detail::grad_node(inputs[i].checked("grad"));
    if (!node) Error::fail("grad", {"input ", Index(i), " does not require a gradient"});
    pass.capture(node);
  }
  detail::run_from(pass, "grad", outputs, gradients.empty() ? options.grad_outputs : gradients);
  std::vector<Tensor<D, T>> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    results.emplace_back(pass.take_captured(int(i)));
    if (!results.back().defined() && !options.allow_unused)
      Error::fail("grad", {"input ", Index(i),
                           " was not used in computing the outputs; allow_unused gives it an undefined gradient"});
  }
  return results;
}

template <class D, class T>
std::vector<Tensor<D, T>> grad(std::initializer_list<Tensor<D, T>> outputs, std::initializer_list<Tensor<D, T>> inputs,
                               std::initializer_list<std::type_identity_t<Tensor<D, T>>> gradients = {},
                               detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  return grad<D, T>(std::vector(outputs), std::vector(inputs), std::vector(gradients), options, here);
}

template <class D, class T>
std::vector<Tensor<D, T>> grad(std::initializer_list<Tensor<D, T>> outputs, std::initializer_list<Tensor<D, T>> inputs,
                               detail::GradOptionsOf<D, T> options, CallSite here = {}) {
  return grad<D, T>(std::vector(outputs), std::vector(inputs), {}, options, here);
}

/// The same with LibTorch's positional options.
template <class D, class T>
std::vector<Tensor<D, T>> grad(const std::vector<Tensor<D, T>>& outputs, const std::vector<Tensor<D, T>>& inputs,
                               const std::vector<Tensor<D, T>>& gradients, bool retain_graph, bool create_graph = false,
                               bool allow_unused = false, CallSite here = {}) {
  return grad<D, T>(outputs, inputs, gradients, {{}, retain_graph, create_graph, allow_unused}, here);
}
template <class D, class T>
std::vector<Tensor<D, T>> grad(std::initializer_list<Tensor<D, T>> outputs, std::initializer_list<Tensor<D, T>> inputs,
                               std::initializer_list<std::type_identity_t<Tensor<D, T>>> gradients, bool retain_graph,
                               bool create_graph = false, bool allow_unused = false, CallSite here = {}) {
  return grad<D, T>(std::vector(outputs), std::vector(inputs), std::vector(gradients),
                    {{}, retain_graph, create_graph, allow_unused}, here);
}

template <class D, class T>
std::vector<Tensor<D, T>> grad(const Tensor<D, T>& output, std::initializer_list<Tensor<D, T>> inputs,
                               std::initializer_list<std::type_identity_t<Tensor<D, T>>> gradients, bool retain_graph,
                               bool create_graph = false, bool allow_unused = false, CallSite here = {}) {
  return grad<D, T>(std::vector{output}, std::vector(inputs), std::vector(gradients),
                    {{}, retain_graph, create_graph, allow_unused}, here);
}

/// The gradients of one output.
template <class D, class T>
std::vector<Tensor<D, T>> grad(const Tensor<D, T>& output, const std::vector<Tensor<D, T>>& inputs,
                               detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  return grad<D, T>(std::vector{output}, inputs, {}, options, here);
}
template <class D, class T>
std::vector<Tensor<D, T>> grad(const Tensor<D, T>& output, std::initializer_list<Tensor<D, T>> inputs,
                               detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  return grad<D, T>(std::vector{output}, std::vector(inputs), {}, options, here);
}

/// The same with respect to a network's parameters(), or a std::vector of nn::Parameters.
template <class D, class T, detail::TensorSubclass X>
std::vector<Tensor<D, T>> grad(const Tensor<D, T>& output, const std::vector<X>& inputs,
                               detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  return grad<D, T>(std::vector{output}, detail::plain_tensors(inputs), {}, options, here);
}
template <class D, class T, detail::TensorSubclass X>
std::vector<Tensor<D, T>> grad(std::initializer_list<Tensor<D, T>> outputs, const std::vector<X>& inputs,
                               detail::GradOptionsOf<D, T> options, CallSite here = {}) {
  return grad<D, T>(std::vector(outputs), detail::plain_tensors(inputs), {}, options, here);
}
template <class D, class T, detail::TensorSubclass X>
std::vector<Tensor<D, T>> grad(std::initializer_list<Tensor<D, T>> outputs, const std::vector<X>& inputs,
                               std::initializer_list<std::type_identity_t<Tensor<D, T>>> gradients = {},
                               bool retain_graph = false, bool create_graph = false, bool allow_unused = false,
                               CallSite here = {}) {
  return grad<D, T>(std::vector(outputs), detail::plain_tensors(inputs), std::vector(gradients),
                    {{}, retain_graph, create_graph, allow_unused}, here);
}

/// The gradient of one output with respect to one input.
template <class D, class T>
Tensor<D, T> grad(const Tensor<D, T>& output, const Tensor<D, T>& input, detail::GradOptionsOf<D, T> options = {},
                  CallSite here = {}) {
  return grad<D, T>(std::vector{output}, std::vector{input}, {}, options, here)[0];
}
template <class D, class T, std::derived_from<Tensor<D, T>> Gradient>
Tensor<D, T> grad(const Tensor<D, T>& output, const Tensor<D, T>& input, const Gradient& gradient,
                  detail::GradOptionsOf<D, T> options = {}, CallSite here = {}) {
  return grad<D, T>(std::vector{output}, std::vector{input}, {gradient}, options, here)[0];
}

namespace autograd {
using tern::grad;

/// backward() of several tensors in one pass: adds the gradients of the sum of tensors · grad_tensors to the leaves'
/// grad(). An undefined one, or none at all, stands for ones.
template <class D, class T>
void backward(const std::vector<Tensor<D, T>>& tensors, const std::vector<Tensor<D, T>>& grad_tensors = {},
              bool retain_graph = false, bool create_graph = false, CallSite here = {}) {
  const CallScope scope(here);
  tern::detail::Backward pass(retain_graph || create_graph, create_graph);
  tern::detail::run_from(pass, "backward", tensors, grad_tensors);
}
template <class D, class T>
void backward(std::initializer_list<Tensor<D, T>> tensors,
              std::initializer_list<std::type_identity_t<Tensor<D, T>>> grad_tensors = {}, bool retain_graph = false,
              bool create_graph = false, CallSite here = {}) {
  backward(std::vector(tensors), std::vector(grad_tensors), retain_graph, create_graph, here);
}
}  // namespace autograd

}}  // namespace tern

#ifndef TERN_COMPILED
#include "backward.ipp"
#endif
