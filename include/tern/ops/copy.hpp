// clone, contiguous, copy_, fill_, to: new elements, or old ones overwritten.
#pragma once
#include "arithmetic.hpp"

namespace tern {

namespace detail {
template <class D, class T>
Tensor<D, T> dense_copy(const Tensor<D, T>& x, bool keep_order) {
  Tensor<D, T> y = keep_order ? empty_like(x) : empty<D, T>(x.shape());
  backend::copy(D{}, *y.impl(), *x.impl());
  return y;
}
}  // namespace detail

/// A copy in x's memory order.
template <Device D, Element T>
Tensor<D, T> clone(const Tensor<D, T>& x, Here here = {}) {
  x.checked("clone");
  const Tensor<D, T> y = detail::dense_copy(x, true);
  record({"clone", here}, y, wrt(x, [](const auto& g) { return g; }));
  return y;
}

/// x itself where its elements lie in row-major order without gaps, else a copy that does.
template <Device D, Element T>
Tensor<D, T> contiguous(const Tensor<D, T>& x, Here here = {}) {
  if (x.checked("contiguous")->contiguous) return x;
  const Tensor<D, T> y = detail::dense_copy(x, false);
  record({"contiguous", here}, y, wrt(x, [](const auto& g) { return g; }));
  return y;
}

namespace detail {
/// x off the tape, dense.
template <class D, class T> Tensor<D, T> dense(const Tensor<D, T>& x) {
  return x.impl()->contiguous ? x : contiguous(x.detach());
}
}  // namespace detail

/// target = source, broadcast to target's shape.
template <Device D, Element T>
const Tensor<D, T>& copy_(const Tensor<D, T>& target, const Tensor<D, T>& source, Here here = {}) {
  detail::check_writable("copy_", target.checked("copy_"));
  source.checked("copy_");
  const Shape to = target.shape();
  if (!(broadcast_shapes("copy_", to, source.impl()->shape_ref()) == to))
    fail("copy_", {"a tensor of shape ", source.impl()->shape_ref(), " does not broadcast to ", to});
  return detail::assign({"copy_", here}, target, source.expand(to, here).clone(here));
}
TERN_SAME_PLACE(copy_)

/// Every element becomes value.
template <Device D, Element T>
const Tensor<D, T>& fill_(const Tensor<D, T>& x, scalar_t<std::type_identity_t<T>> value, Here here = {}) {
  detail::check_writable("fill_", x.checked("fill_"));
  if (records(x)) return detail::assign({"fill_", here}, x, full_like(x.detach(), value));
  backend::fill<T>(D{}, value, *x.impl());
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
