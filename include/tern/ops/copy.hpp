// clone, contiguous, copy_, fill_, to: new elements, or old ones overwritten.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "arithmetic.hpp"

namespace tern::inline TERN_BUILD {

namespace detail {

/// x itself where it is row-major without gaps, else a copy that is, on the tape.
[[gnu::noinline]] inline TensorImpl* contiguous(const OpName& op, TensorImpl* x, const DeviceOps& device) {
  if (x->contiguous) return Unchanged()(x);
  return recorded(op, copied(device, x), x, Unchanged());
}

/// The same for channels-last order.
[[gnu::noinline, gnu::cold]] inline TensorImpl* channels_last_copy(const OpName& op, TensorImpl* x, const DeviceOps& device) {
  if (x->ndim < 3) fail(op.name, {"channels_last wants at least 3 dimensions, not ", x->shape_ref()});
  Owned y(device.allocate(x->dtype, x->shape_ref(), x->ordinal));
  set_channels_last_strides(*y.impl);
  device.copy(*y.impl, *x);
  return recorded(op, y.take(), x, Unchanged());
}

/// A copy in x's memory order, on the tape.
[[gnu::noinline]] inline TensorImpl* clone(const OpName& op, TensorImpl* x, const DeviceOps& device) {
  const Array* const in[] = {x};
  Owned y(new_map_output(op.name, x->dtype, in, 1, device.allocate));
  device.copy(*y.impl, *x);
  return recorded(op, y.take(), x, Unchanged());
}

/// target = source, broadcast. ops is null for types without gradients.
[[gnu::noinline]] inline void copy_into(const OpName& op, TensorImpl* target, TensorImpl* source,
                                        const DeviceOps& device, const GradOps* ops) {
  check_writable(op.name, target);
  const Shape to = target->shape();
  if (!(broadcast_shapes(op.name, to, source->shape_ref()) == to))
    fail(op.name, {"a tensor of shape ", source->shape_ref(), " does not broadcast to ", to});
  // By way of a copy, which has a history of its own and may lie where the target does; the engine sums its gradient.
  const Owned values(device.allocate(source->dtype, to, target->ordinal));
  device.copy(*values.impl, *source);
  recorded(op, values.impl, source, Unchanged());
  assign(op, target, values.impl, device, ops);
}

/// A copy in row-major order, off the tape.
template <class D, class T>
Tensor<D, T> dense_copy(const Tensor<D, T>& x) {
  return Tensor<D, T>(copied(device_ops<D>, x.impl()));
}

}  // namespace detail

/// A copy in x's memory order.
template <Device D, Element T>
Tensor<D, T> clone(const Tensor<D, T>& x, Here here = {}) {
  return Tensor<D, T>(detail::clone({"clone", here}, x.checked("clone"), detail::device_ops<D>));
}

/// x itself where its elements lie in row-major order without gaps, else a copy that does.
template <Device D, Element T>
Tensor<D, T> contiguous(const Tensor<D, T>& x, Here here = {}) {
  return Tensor<D, T>(detail::contiguous({"contiguous", here}, x.checked("contiguous"), detail::device_ops<D>));
}

/// The same for the order of a format.
template <Device D, Element T>
Tensor<D, T> contiguous(const Tensor<D, T>& x, MemoryFormat format, Here here = {}) {
  if (format == contiguous_format) return contiguous(x, here);
  if (is_channels_last(*x.checked("contiguous"))) return x;
  return Tensor<D, T>(detail::channels_last_copy({"contiguous", here}, x.impl(), detail::device_ops<D>));
}

namespace detail {
/// x off the tape, dense.
template <class D, class T> Tensor<D, T> dense(const Tensor<D, T>& x) {
  return x.impl()->contiguous ? x : contiguous(x.detach());
}
/// x off the tape, in channels-last order without gaps.
template <class D, class T> Tensor<D, T> channels_innermost(const Tensor<D, T>& x) {
  return is_channels_last(*x.impl()) ? x : contiguous(x.detach(), channels_last);
}
/// y in channels-last order where x is and not row-major too, else in row-major order.
template <class D, class T> Tensor<D, T> in_order_of(const Tensor<D, T>& x, const Tensor<D, T>& y, Here here) {
  const bool last = !x.impl()->contiguous && is_channels_last(*x.impl());
  return contiguous(y, last ? channels_last : contiguous_format, here);
}
}  // namespace detail

/// target = source, broadcast to target's shape.
template <Device D, Element T>
const Tensor<D, T>& copy_(const Tensor<D, T>& target, const Tensor<D, T>& source, Here here = {}) {
  detail::copy_into({"copy_", here}, target.checked("copy_"), source.checked("copy_"), detail::device_ops<D>,
                    detail::grad_ops_for<D, T>());
  return target;
}
TERN_SAME_PLACE(copy_)

/// Every element becomes value.
template <Device D, Element T>
const Tensor<D, T>& fill_(const Tensor<D, T>& x, scalar_t<std::type_identity_t<T>> value, Here here = {}) {
  detail::check_writable("fill_", x.checked("fill_"));
  if (records(x)) return detail::assign({"fill_", here}, x, full_like(x.detach(), value));
  backend::run<D>(backend::Fill<T>{*x.impl(), value});
  detail::bump_version(x.impl());
  return x;
}

/// The elements as another type.
template <Device D, Element T, Element U>
Tensor<D, U> to_type(const Tensor<D, T>& x, Type<U> type, Here here = {}) {
  if constexpr (std::is_same_v<T, U>) {
    x.checked("to");
    return x;
  } else {
    const Tensor<D, U> y = detail::map<U>("to", [](auto v) { return v; }, x);
    static_cast<void>(type);
    if constexpr (is_floating_v<T>)
      record({"to", here}, y, wrt(x, [](const Tensor<D, U>& g) { return to_type(g, Type<T>{}); }));
    return y;
  }
}

}  // namespace tern
