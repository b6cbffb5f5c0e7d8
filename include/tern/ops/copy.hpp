// clone, contiguous, copy_, fill_, to: copies, conversions and overwriting.
#pragma once
#include "arithmetic.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// x itself if it is row-major without gaps, else a row-major copy, recorded.
TERN_API TensorImpl* contiguous(const CallSite& op, TensorImpl* x, const DeviceOps& device);

/// The same for channels-last order.
TERN_API TensorImpl* channels_last_copy(const CallSite& op, TensorImpl* x, const DeviceOps& device);

/// A copy in x's memory order, recorded.
TERN_API TensorImpl* clone(const CallSite& op, TensorImpl* x, const DeviceOps& device);

/// target = source, broadcast. ops is null for types without gradients.
TERN_API void copy_into(const CallSite& op, TensorImpl* target, TensorImpl* source, const DeviceOps& device,
                        const GradOps* ops);

/// A copy in row-major order, not recorded.
template <class D, class T>
Tensor<D, T> dense_copy(const Tensor<D, T>& x) {
  return Tensor<D, T>(copied(device_ops<D>, x.impl()));
}

}  // namespace detail

/// A copy in x's memory order.
template <Device D, Element T>
Tensor<D, T> clone(const Tensor<D, T>& x, CallSite here = {}) {
  return Tensor<D, T>(detail::clone({"clone", here}, x.checked({"clone", here}), detail::device_ops<D>));
}

/// x itself if its elements lie in row-major order without gaps, else a copy in that order.
template <Device D, Element T>
Tensor<D, T> contiguous(const Tensor<D, T>& x, CallSite here = {}) {
  return Tensor<D, T>(detail::contiguous({"contiguous", here}, x.checked({"contiguous", here}), detail::device_ops<D>));
}

/// The same for the order of a format.
template <Device D, Element T>
Tensor<D, T> contiguous(const Tensor<D, T>& x, MemoryFormat format, CallSite here = {}) {
  if (format == contiguous_format) return contiguous(x, here);
  if (detail::is_channels_last(*x.checked({"contiguous", here}))) return x;
  return Tensor<D, T>(detail::channels_last_copy({"contiguous", here}, x.impl(), detail::device_ops<D>));
}

namespace detail {
/// x as a dense tensor that is not on the tape.
template <class D, class T>
Tensor<D, T> dense(const Tensor<D, T>& x) {
  return x.impl()->contiguous ? x : contiguous(x.detach());
}
/// x in channels-last order without gaps, not on the tape.
template <class D, class T>
Tensor<D, T> channels_innermost(const Tensor<D, T>& x) {
  return is_channels_last(*x.impl()) ? x : contiguous(x.detach(), channels_last);
}
/// y in x's order: channels-last if x is channels-last and not also row-major, else row-major.
template <class D, class T>
Tensor<D, T> in_order_of(const Tensor<D, T>& x, const Tensor<D, T>& y, CallSite here) {
  const bool last = !x.impl()->contiguous && is_channels_last(*x.impl());
  return contiguous(y, last ? channels_last : contiguous_format, here);
}
}  // namespace detail

/// target = source, broadcast to target's shape.
template <Device D, Element T>
const Tensor<D, T>& copy_(const Tensor<D, T>& target, const Tensor<D, T>& source, CallSite here = {}) {
  detail::copy_into({"copy_", here}, target.checked({"copy_", here}), source.checked({"copy_", here}),
                    detail::device_ops<D>, detail::grad_ops_for<D, T>());
  return target;
}

/// Sets every element to value. Error if T does not hold it.
template <Device D, Element T>
const Tensor<D, T>& fill_(const Tensor<D, T>& x, detail::number_t<T> value, CallSite here = {}) {
  detail::check_writable({"fill_", here}, x.checked({"fill_", here}));
  const detail::scalar_t<T> element = detail::element<T>({"fill_", here}, value);
  if (detail::records(x)) return detail::assign({"fill_", here}, x, full_like(x.detach(), value));
  detail::backend::run<D>(detail::backend::Fill<T>{*x.impl(), element});
  detail::bump_version(x.impl());
  return x;
}

namespace detail {
/// The gradient of a conversion of elements T. A product may have made them, whose gradients are products too.
template <class T, class D, class U>
Tensor<D, T> conversion_gradient(const Tensor<D, U>& g) {
  if constexpr (is_half_v<T> && requires { DeviceTraits<D>::product_row; }) {
    if (!GradMode::is_enabled() && g.impl()->contiguous) {
      const Tensor<D, T> y(allocate_rows<D, T>(g.impl()->shape_ref(), g.impl()->ordinal));
      const Array* const in[] = {g.impl()};
      backend::run<D, T, U>(backend::Map([](auto v) { return v; }, *y.impl(), in));
      return y;
    }
  }
  return to_type(g, Type<T>{});
}
}  // namespace detail

/// The elements converted to another type.
template <Device D, Element T, Element U>
Tensor<D, U> to_type(const Tensor<D, T>& x, detail::Type<U> type, CallSite here = {}) {
  if constexpr (std::is_same_v<T, U>) {
    x.checked({"to", here});
    return x;
  } else {
    const Tensor<D, U> y = detail::map<U>({"to", here}, [](auto v) { return v; }, x);
    static_cast<void>(type);
    if constexpr (detail::is_floating_v<T>)
      record({"to", here}, y, wrt(x, [](const Tensor<D, U>& g) { return detail::conversion_gradient<T>(g); }));
    return y;
  }
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "copy.ipp"
#endif
