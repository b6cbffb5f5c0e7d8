// The functions of backward.hpp that are not templates.
#pragma once
#include <atomic>

#include "backward.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE TensorImpl* seed_gradient(const char* op, TensorImpl* output, TensorImpl* gradient) {
  if (!grad_node(output)) fail(op, {"the tensor does not require a gradient and was not computed from one that does"});
  if (!gradient) {
    if (output->numel != 1)
      fail(op, {"a gradient must be given for an output of more than one element: ", output->shape_ref()});
  } else if (!same_shape(*output, *gradient)) {
    fail(op, {"the gradient's shape ", gradient->shape_ref(), " differs from the output's ", output->shape_ref()});
  }
  if (gradient) {
    retain(gradient);
    return gradient;
  }
  const GradOps& ops = *output->node->ops;
  Owned ones(ops.device->allocate(output->dtype, output->shape_ref(), output->ordinal));
  ops.fill(1, *ones.impl);
  return ones.take();
}

[[gnu::noinline]] TERN_INLINE void backward(TensorImpl* output, TensorImpl* gradient, bool retain_graph, bool create_graph, const Here& here) {
  const Site at(here);
  TensorImpl* const seed = seed_gradient("backward", output, gradient);
  Backward pass(retain_graph || create_graph, create_graph);
  pass.start(output->node, seed);
  pass.run();
}

/// A type of which the program has made a leaf. From it an AnyTensor, whose type is not known, learns its GradOps.
struct LeafType {
  const GradOps* ops;
  DType dtype;
  const LeafType* next;
};
TERN_INLINE constinit std::atomic<const LeafType*> leaf_types{nullptr};  // a list that only grows

/// The GradOps of a leaf's type; null if there was no such leaf.
[[gnu::noinline, gnu::cold]] TERN_INLINE const GradOps* leaf_ops(const DeviceOps* device, DType dtype) {
  for (const LeafType* type = leaf_types; type; type = type->next)
    if (type->ops->device == device && type->dtype == dtype) return type->ops;
  return nullptr;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void require_grad(TensorImpl* p, bool on, const GradOps* ops) {
  if (on == (p->node != nullptr)) return;
  if (!on) {
    if (!p->node->leaf) fail("requires_grad_", {"only a leaf can stop requiring a gradient; use detach()"});
    release_node(std::exchange(p->node, nullptr));
    return;
  }
  if (p->inference) fail("requires_grad_", {"the tensor was made in inference mode; clone() it outside"});
  p->node = new_leaf(ops);
  if (!leaf_ops(ops->device, p->dtype)) {
    auto* const type = new LeafType{ops, p->dtype, leaf_types};
    while (!leaf_types.compare_exchange_weak(type->next, type)) {
    }
  }
}

}  // namespace tern::detail

namespace tern::inline TERN_BUILD {

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor AnyTensor::grad() const {
  return with(detail::kept_gradient(&checked("grad")));
}

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor& AnyTensor::requires_grad_(bool on) {
  checked("requires_grad_");
  const detail::GradOps* const ops = on && !impl_->node ? detail::leaf_ops(device_->ops, impl_->dtype) : nullptr;
  if (on && !impl_->node && !ops)
    fail("requires_grad_", {"no gradients of ", device_->name, ", ", detail::name_of(impl_->dtype), " are known here: as<D, T>() is the typed tensor"});
  detail::require_grad(impl_, on, ops);
  return *this;
}

}  // namespace tern
