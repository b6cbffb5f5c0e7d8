// Copies of x with one view of it replaced: select_scatter, slice_scatter, diagonal_scatter.
#pragma once
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// A copy of x, in which source replaces view(copy). Error unless it has the view's shape.
template <class D, class T, class View>
Tensor<D, T> with_view(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& source, const View& view) {
  const CallScope scope(op);
  const Tensor<D, T> y = clone(x, op), part = view(y);
  if (!same_shape(*part.impl(), *source.checked(op)))
    Error::fail(op, {"a source of shape ", source.shape(), " for the place of ", part.shape()});
  copy_(part, source, op);
  return y;
}

}  // namespace detail

/// x with source in place of select(x, dim, position).
template <Device D, Element T>
Tensor<D, T> select_scatter(const Tensor<D, T>& x, const Tensor<D, T>& source, Index dim, Index position,
                            CallSite here = {}) {
  return detail::with_view({"select_scatter", here}, x, source,
                           [&](const auto& y) { return select(y, dim, position, here); });
}

/// x with source in place of slice(x, dim, range).
template <Device D, Element T>
Tensor<D, T> slice_scatter(const Tensor<D, T>& x, const Tensor<D, T>& source, Index dim = 0, Slice range = {},
                           CallSite here = {}) {
  return detail::with_view({"slice_scatter", here}, x, source,
                           [&](const auto& y) { return slice(y, dim, range, here); });
}

/// x with source in place of diagonal(x, offset, dim1, dim2).
template <Device D, Element T>
Tensor<D, T> diagonal_scatter(const Tensor<D, T>& x, const Tensor<D, T>& source, Index offset = 0, Index dim1 = 0,
                              Index dim2 = 1, CallSite here = {}) {
  return detail::with_view({"diagonal_scatter", here}, x, source,
                           [&](const auto& y) { return diagonal(y, offset, dim1, dim2, here); });
}

TERN_SAME_PLACE(select_scatter)
TERN_SAME_PLACE(slice_scatter)
TERN_SAME_PLACE(diagonal_scatter)

}}  // namespace tern
