// Views: the same elements in another shape, without a copy. The base sees what is written through a view, and so does
// the tape.
#pragma once
#include "copy.hpp"
#include "support/region.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Links a view to the tensor whose elements it shares, so that writing either rewrites the history of both.
TERN_API TensorImpl* attach_view(TensorImpl* view, TensorImpl* of);

/// a with its dimensions reordered: dimension i of the result is dimension order[i] of a.
TERN_API TensorImpl* permuted(TensorImpl* a, const Dims& order);

/// The positions start, start + step, … (`count` of them) of a dimension.
TERN_API TensorImpl* sliced(TensorImpl* a, int dim, Index start, Index count, Index step);

TERN_API TensorImpl* without_dim(TensorImpl* a, int dim, Index position);

TERN_API TensorImpl* expanded(const CallSite& op, TensorImpl* a, const Shape& to);

/// `to` with a -1 replaced so that the number of elements is right. Error if that is impossible.
TERN_API Shape inferred_shape(const CallSite& op, const Array& a, const Shape& to);

/// Strides for a's elements in the new shape. False if a copy would be necessary.
TERN_API bool view_strides(const Array& a, const Shape& shape, Index* strides);

/// Null if the elements must be copied.
TERN_API TensorImpl* viewed(TensorImpl* a, const Shape& shape);

/// The shape with dimensions start … end merged into one.
TERN_API Shape flattened_shape(const CallSite& op, ShapeRef from, Index start, Index end);

/// Error if there is no memory for so many views.
TERN_API void check_pieces(const CallSite& op, Index count);

/// The shape with a new dimension of size 1 at dim.
TERN_API Shape unsqueezed_shape(const CallSite& op, ShapeRef from, Index dim);

// ---- recorded ----

TensorImpl* permute(const CallSite& op, TensorImpl* x, const Dims& order);
TensorImpl* reshape(const CallSite& op, TensorImpl* x, const Shape& to, const DeviceOps& device);

struct PermuteGradient {
  Dims inverse;
  TensorImpl* operator()(TensorImpl* g) const { return permute({"permute", CallSite::unknown}, g, inverse); }
};
/// order has each number in [0, ndim) once.
TERN_API TensorImpl* permute(const CallSite& op, TensorImpl* x, const Dims& order);

TERN_API TensorImpl* transpose(const CallSite& op, TensorImpl* x, Index dim0, Index dim1);

TERN_API TensorImpl* slice(const CallSite& op, TensorImpl* x, Index dim, Slice range);

TERN_API TensorImpl* select(const CallSite& op, TensorImpl* x, Index dim, Index position);

/// The engine sums the gradient to x's shape.
TERN_API TensorImpl* expand(const CallSite& op, TensorImpl* x, const Shape& to);

struct ReshapeGradient {
  Shape shape;
  const DeviceOps* device;
  TensorImpl* operator()(TensorImpl* g) const { return reshape({"reshape", CallSite::unknown}, g, shape, *device); }
};
/// Null if the strides make a copy necessary.
TERN_API TensorImpl* view(const CallSite& op, TensorImpl* x, const Shape& to, const DeviceOps& device);
TERN_API TensorImpl* reshape(const CallSite& op, TensorImpl* x, const Shape& to, const DeviceOps& device);

}  // namespace detail

/// Dimension i of the result is dimension dims[i] of x.
template <Device D, Element T>
Tensor<D, T> permute(const Tensor<D, T>& x, detail::Dims dims, CallSite here = {}) {
  const int n = x.checked({"permute", here})->ndim;
  if (dims.n != n || (n > 0 && detail::dim_mask({"permute", here}, dims, n) != (1u << n) - 1))
    Error::fail({"permute", here}, {"dimensions ", dims, " are not a permutation of those of ", x.impl()->shape_ref()});
  for (int i = 0; i < n; ++i) dims[i] = detail::wrap_dim({"permute", here}, dims[i], n);
  return Tensor<D, T>(detail::permute({"permute", here}, x.impl(), dims));
}

/// Swaps two dimensions.
template <Device D, Element T>
Tensor<D, T> transpose(const Tensor<D, T>& x, Index dim0, Index dim1, CallSite here = {}) {
  return Tensor<D, T>(detail::transpose({"transpose", here}, x.checked({"transpose", here}), dim0, dim1));
}

/// The transposed matrix; a vector stays as it is.
template <Device D, Element T>
Tensor<D, T> t(const Tensor<D, T>& x, CallSite here = {}) {
  if (x.checked({"t", here})->ndim > 2)
    Error::fail({"t", here}, {"a matrix or a vector is needed, not ", x.impl()->shape_ref()});
  return x.dim() < 2 ? x : transpose(x, 0, 1, here);
}

/// Every step-th position of a dimension from start to stop.
template <Device D, Element T>
Tensor<D, T> slice(const Tensor<D, T>& x, Index dim, Slice range, CallSite here = {}) {
  return Tensor<D, T>(detail::slice({"slice", here}, x.checked({"slice", here}), dim, range));
}

/// The positions start … start + length - 1 of a dimension.
template <Device D, Element T>
Tensor<D, T> narrow(const Tensor<D, T>& x, Index dim, Index start, Index length, CallSite here = {}) {
  const detail::Array& a = *x.checked({"narrow", here});
  const Index size = a.dims[detail::existing_dim({"narrow", here}, dim, a.ndim)];
  if (start < 0) start += size;
  const Index stop = detail::checked_sum({"narrow", here}, {start, length});
  if (start < 0 || length < 0 || stop > size)
    Error::fail({"narrow", here}, {"positions ", start, " to ", stop, " are outside a dimension of size ", size});
  return slice(x, dim, {start, start + length}, here);
}

/// One position of a dimension; the dimension is removed.
template <Device D, Element T>
Tensor<D, T> select(const Tensor<D, T>& x, Index dim, Index position, CallSite here = {}) {
  return Tensor<D, T>(detail::select({"select", here}, x.checked({"select", here}), dim, position));
}

/// x expanded along dimensions of size 1, and along new dimensions in front. -1 keeps a size.
template <Device D, Element T>
Tensor<D, T> expand(const Tensor<D, T>& x, detail::Shape to, CallSite here = {}) {
  return Tensor<D, T>(detail::expand({"expand", here}, x.checked({"expand", here}), to));
}

/// The elements in another shape, never copied. One size may be -1. Error if the strides do not allow it.
template <Device D, Element T>
Tensor<D, T> view(const Tensor<D, T>& x, detail::Shape to, CallSite here = {}) {
  detail::TensorImpl* const y = detail::view({"view", here}, x.checked({"view", here}), to, detail::device_ops<D>);
  if (!y)
    Error::fail({"view", here}, {"strides ", x.strides(), " of ", x.shape(), " do not allow shape ", to,
                                 " without a copy; use reshape"});
  return Tensor<D, T>(y);
}

/// The elements in another shape, copied only if the strides make it necessary.
template <Device D, Element T>
Tensor<D, T> reshape(const Tensor<D, T>& x, detail::Shape to, CallSite here = {}) {
  return Tensor<D, T>(detail::reshape({"reshape", here}, x.checked({"reshape", here}), to, detail::device_ops<D>));
}

/// Merges dimensions start … end into one.
template <Device D, Element T>
Tensor<D, T> flatten(const Tensor<D, T>& x, Index start = 0, Index end = -1, CallSite here = {}) {
  const detail::Shape to =
      detail::flattened_shape({"flatten", here}, x.checked({"flatten", here})->shape_ref(), start, end);
  return to == x.shape() ? x : reshape(x, to, here);
}

/// Removes the named dimensions that have size 1; without names, all of size 1.
template <Device D, Element T>
Tensor<D, T> squeeze(const Tensor<D, T>& x, detail::Dims dims = {}, CallSite here = {}) {
  const unsigned mask = detail::dim_mask({"squeeze", here}, dims, x.checked({"squeeze", here})->ndim);
  detail::Shape to;
  for (int i = 0; i < x.impl()->ndim; ++i)
    if (x.impl()->dims[i] != 1 || !(mask >> i & 1)) to.push_back(x.impl()->dims[i]);
  return view(x, to, here);
}

/// Adds a dimension of size 1 at dim.
template <Device D, Element T>
Tensor<D, T> unsqueeze(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  return view(x, detail::unsqueezed_shape({"unsqueeze", here}, x.checked({"unsqueeze", here})->shape_ref(), dim), here);
}

/// Pieces of the given sizes along a dimension.
template <Device D, Element T>
std::vector<Tensor<D, T>> split(const Tensor<D, T>& x, const std::vector<Index>& sizes, Index dim = 0,
                                CallSite here = {}) {
  const CallScope scope({"split", here});
  Index total = 0;
  for (Index size : sizes) total = detail::checked_sum({"split", here}, {total, size});
  if (total != x.size(dim))
    Error::fail({"split", here}, {"sizes add up to ", total, ", not to the dimension's ", x.size(dim)});
  std::vector<Tensor<D, T>> pieces;
  Index start = 0;
  for (Index size : sizes) {
    pieces.push_back(narrow(x, dim, start, size, here));
    start += size;
  }
  return pieces;
}

/// Pieces of one size along a dimension; the last may be smaller.
template <Device D, Element T>
std::vector<Tensor<D, T>> split(const Tensor<D, T>& x, Index size, Index dim = 0, CallSite here = {}) {
  const CallScope scope({"split", here});
  const Index total = x.size(dim);
  if (size < 0 || (size == 0 && total > 0))
    Error::fail({"split", here}, {"the size of a piece must be positive, not ", size});
  detail::check_pieces({"split", here}, size ? total / size : 0);
  std::vector<Index> sizes;
  for (Index start = 0; start < total; start += size) sizes.push_back(total - start < size ? total - start : size);
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, dim, here);
}

/// At most `chunks` pieces of equal size along a dimension; the last may be smaller.
template <Device D, Element T>
std::vector<Tensor<D, T>> chunk(const Tensor<D, T>& x, Index chunks, Index dim = 0, CallSite here = {}) {
  if (chunks <= 0) Error::fail({"chunk", here}, {"the number of pieces must be positive, not ", chunks});
  const CallScope scope({"chunk", here});
  const Index size = x.size(dim);
  detail::check_pieces({"chunk", here}, std::min(chunks, size ? size : chunks));
  if (size == 0) return split(x, std::vector<Index>(std::size_t(chunks), 0), dim, here);
  return split(x, (size - 1) / chunks + 1, dim, here);
}

/// Each position of a dimension as a tensor without that dimension.
template <Device D, Element T>
std::vector<Tensor<D, T>> unbind(const Tensor<D, T>& x, Index dim = 0, CallSite here = {}) {
  const CallScope scope({"unbind", here});
  const Index size = x.checked("unbind")->ndim ? x.size(dim) : 0;
  if (x.dim() == 0) Error::fail("unbind", {"a 0-d tensor has no dimension to unbind"});
  detail::check_pieces({"unbind", CallSite::unknown}, size);
  std::vector<Tensor<D, T>> pieces;
  for (Index i = 0; i < size; ++i) pieces.push_back(select(x, dim, i, here));
  return pieces;
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "views.ipp"
#endif
