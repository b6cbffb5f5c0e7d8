// The functions of backward.hpp that are not templates.
#pragma once
#include "backward.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD TensorImpl* seed_gradient(const char* op, TensorImpl* output, TensorImpl* gradient) {
  if (!grad_node(output))
    Error::fail(op, {"the tensor does not require a gradient and was not computed from one that does"});
  if (!gradient) {
    if (output->numel != 1)
      Error::fail(op, {"a gradient must be given for an output of more than one element: ", output->shape_ref()});
  } else if (!same_shape(*output, *gradient)) {
    Error::fail(op,
                {"the gradient's shape ", gradient->shape_ref(), " differs from the output's ", output->shape_ref()});
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

TERN_NOINLINE void backward(TensorImpl* output, TensorImpl* gradient, bool retain_graph, bool create_graph,
                            const CallSite& here) {
  const CallScope scope(here);
  TensorImpl* const seed = seed_gradient("backward", output, gradient);
  Backward pass(retain_graph || create_graph, create_graph);
  pass.start(output->node, seed);
  pass.run();
}

TERN_COLD void require_grad(TensorImpl* p, bool on, const GradOps* ops, const CallSite& here) {
  const CallSite op("requires_grad_", here);
  if (on == (p->node != nullptr)) return;
  if (!on) {
    if (!p->node->leaf) Error::fail(op, {"only a leaf can stop requiring a gradient; use detach()"});
    release_node(std::exchange(p->node, nullptr));
    return;
  }
  if (p->inference) Error::fail(op, {"the tensor was made in inference mode; clone() it outside"});
  p->node = new_leaf(ops);
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD AnyTensor AnyTensor::grad(CallSite here) const {
  return with(detail::kept_gradient(&checked({"grad", here})));
}

TERN_COLD void AnyTensor::requires_grad_(bool on, CallSite here) const {
  checked("requires_grad_");
  if (on && !grad_ops_ && !impl_->node)
    Error::fail({"requires_grad_", here},
                {"the tensor is no parameter: as<D, T>() gives a Tensor, which has requires_grad_(), too"});
  detail::require_grad(impl_, on, grad_ops_, here);
}

TERN_COLD void TensorHook::remove() const {
  if (hook_) hook_->remove();
}

}}  // namespace tern
