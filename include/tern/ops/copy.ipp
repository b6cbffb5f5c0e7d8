// The functions of copy.hpp that are not templates.
#pragma once
#include "../tensor/any_tensor.hpp"
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE TensorImpl* contiguous(const CallSite& op, TensorImpl* x, const DeviceOps& device) {
  if (x->contiguous) return Unchanged()(x);
  return recorded(op, copied(device, x), x, Unchanged());
}

TERN_COLD TensorImpl* channels_last_copy(const CallSite& op, TensorImpl* x, const DeviceOps& device) {
  if (x->ndim < 3) Error::fail(op, {"channels_last needs at least 3 dimensions, not ", x->shape_ref()});
  Owned y(device.allocate(x->dtype, x->shape_ref(), x->ordinal));
  set_channels_last_strides(*y.impl);
  device.copy(*y.impl, *x);
  return recorded(op, y.take(), x, Unchanged());
}

TERN_NOINLINE TensorImpl* clone(const CallSite& op, TensorImpl* x, const DeviceOps& device) {
  const Array* const in[] = {x};
  Owned y(new_output(op, x->dtype, in, 1, device.allocate));
  device.copy(*y.impl, *x);
  return recorded(op, y.take(), x, Unchanged());
}

TERN_NOINLINE void copy_into(const CallSite& op, TensorImpl* target, TensorImpl* source, const DeviceOps& device,
                             const GradOps* ops) {
  check_writable(op, target);
  const Shape to = target->shape();
  if (!(broadcast_shapes(op, to, source->shape_ref()) == to))
    Error::fail(op, {"a tensor of shape ", source->shape_ref(), " does not broadcast to ", to});
  // Copies first: the copy has a history of its own, and source may alias target. The engine sums the copy's gradient.
  const Owned values(device.allocate(source->dtype, to, target->ordinal));
  device.copy(*values.impl, *source);
  recorded(op, values.impl, source, Unchanged());
  assign(op, target, values.impl, device, ops);
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD AnyTensor AnyTensor::clone(CallSite here) const {
  checked("clone");
  return with(detail::Owned(detail::clone({"clone", here}, impl_, *device_->ops)).impl);
}

TERN_COLD const AnyTensor& AnyTensor::copy_(const AnyTensor& source, CallSite here) const {
  const CallSite op{"copy_", here};
  const CallScope scope(op);
  checked("copy_"), source.checked("copy_");
  if (device_ != source.device_ || impl_->dtype != source.impl_->dtype)
    source.refuse(device_->name, impl_->dtype, here);
  const detail::Node* const node = impl_->node ? impl_->node : source.impl_->node;
  detail::copy_into(op, impl_, source.impl_, *device_->ops, node ? node->ops : nullptr);
  return *this;
}

}}  // namespace tern
