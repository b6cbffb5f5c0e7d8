// Views: another shape over the same elements, nothing copied. What a view writes its base sees, and the tape with it.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "copy.hpp"
#include "support/region.hpp"

namespace tern::inline TERN_BUILD {
namespace detail {

/// Ties a view to the tensor whose elements it shares, so that writing either rewrites the history of both.
inline TensorImpl* attach_view(TensorImpl* view, TensorImpl* of) {
  update_contiguous(*view);
  if (tape.grad_mode) {
    view->base = of->base ? of->base : of;
    view->base->refs.increase();
    view->view_version = view->owner->version;
  }
  return view;
}

/// Size and stride of every dimension, dimension i of the result being dimension order[i] of a.
[[gnu::noinline, gnu::cold]] inline TensorImpl* permuted(TensorImpl* a, const Dims& order) {
  TensorImpl* const v = new_alias(a);
  v->ndim = a->ndim;
  for (int i = 0; i < a->ndim; ++i) v->dims[i] = a->dims[order[i]], v->strides[i] = a->strides[order[i]];
  return attach_view(v, a);
}

/// The positions start, start + step, … (count of them) of a dimension.
[[gnu::noinline, gnu::cold]] inline TensorImpl* sliced(TensorImpl* a, int dim, Index start, Index count, Index step) {
  TensorImpl* const v = new_detached(a);
  v->data += start * a->strides[dim] * size_of(a->dtype);
  v->dims[dim] = count;
  v->strides[dim] *= step;
  v->numel = v->shape().numel();
  return attach_view(v, a);
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* without_dim(TensorImpl* a, int dim, Index position) {
  TensorImpl* const v = new_alias(a);
  v->data += position * a->strides[dim] * size_of(a->dtype);
  v->ndim = std::uint8_t(a->ndim - 1);
  for (int i = 0, k = 0; i < a->ndim; ++i) {
    if (i == dim) continue;
    v->dims[k] = a->dims[i];
    v->strides[k++] = a->strides[i];
  }
  v->numel = v->shape().numel();
  return attach_view(v, a);
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* expanded(TensorImpl* a, const Shape& to) {
  Shape shape = to;
  if (to.n < a->ndim) fail("expand", {"cannot expand ", a->shape_ref(), " to fewer dimensions ", to});
  TensorImpl view_shape{};
  for (int i = to.n; i-- > 0;) {
    const int j = i - (to.n - a->ndim);
    const Index size = j < 0 ? 1 : a->dims[j];
    if (to[i] == -1 && j >= 0) shape[i] = size;
    if (shape[i] != size && (size != 1 || shape[i] < 0)) fail("expand", {"cannot expand ", a->shape_ref(), " to ", to});
    view_shape.strides[i] = j < 0 || (size == 1 && shape[i] != 1) ? 0 : a->strides[j];
  }
  TensorImpl* const v = new_alias(a);
  v->ndim = std::uint8_t(to.n);
  for (int i = 0; i < to.n; ++i) v->dims[i] = shape[i], v->strides[i] = view_shape.strides[i];
  v->numel = shape.numel();
  return attach_view(v, a);
}

/// `to` with a -1 replaced by what makes the number of elements right. Error if that cannot be.
[[gnu::noinline, gnu::cold]] inline Shape inferred_shape(const char* op, const Array& a, const Shape& to) {
  Shape shape = to;
  Index known = 1;
  int unknown = -1;
  for (int i = 0; i < to.n; ++i) {
    if (to[i] == -1 && unknown < 0) unknown = i;
    else if (to[i] < 0) fail(op, {"invalid shape ", to});
    else known *= to[i];
  }
  if (unknown >= 0) {
    if (known == 0 || a.numel % known != 0) fail(op, {"shape ", to, " does not fit the elements of ", a.shape_ref()});
    shape[unknown] = a.numel / known;
  }
  if (shape.numel() != a.numel) fail(op, {"shape ", to, " does not fit the elements of ", a.shape_ref()});
  return shape;
}

/// Strides for a's elements in the new shape, if they can be had without a copy.
[[gnu::noinline, gnu::cold]] inline bool view_strides(const Array& a, const Shape& shape, Index* strides) {
  if (a.contiguous || a.numel == 0) {
    Index stride = 1;
    for (int i = shape.n; i-- > 0;) {
      strides[i] = stride;
      stride *= shape[i] > 0 ? shape[i] : 1;
    }
    return true;
  }
  // From the right: runs of a that are one stretch of memory are cut into whole dimensions of the new shape.
  int k = shape.n - 1;
  Index run = 1, run_stride = a.ndim ? a.strides[a.ndim - 1] : 1, taken = 1;
  for (int i = a.ndim; i-- > 0;) {
    if (run == 1) run_stride = a.strides[i];
    run *= a.dims[i];
    const bool run_ends = i == 0 || (a.dims[i - 1] != 1 && a.strides[i - 1] != run * run_stride);
    if (!run_ends) continue;
    while (k >= 0 && (taken < run || shape[k] == 1)) {
      strides[k] = taken * run_stride;
      taken *= shape[k--];
    }
    if (taken != run) return false;
    run = taken = 1;
  }
  return k == -1;
}

/// Null if the elements must be copied.
[[gnu::noinline, gnu::cold]] inline TensorImpl* viewed(TensorImpl* a, const Shape& shape) {
  Index strides[max_dims];
  if (!view_strides(*a, shape, strides)) return nullptr;
  TensorImpl* const v = new_alias(a);
  v->ndim = std::uint8_t(shape.n);
  for (int i = 0; i < shape.n; ++i) v->dims[i] = shape[i], v->strides[i] = strides[i];
  return attach_view(v, a);
}

/// The dimensions start … end as one.
[[gnu::noinline, gnu::cold]] inline Shape flattened_shape(ShapeRef from, Index start, Index end) {
  const int a = wrap_dim("flatten", start, from.n), b = wrap_dim("flatten", end, from.n);
  if (a > b) fail("flatten", {"start dimension ", start, " comes after end dimension ", end});
  Shape to(from.d, a);
  to.push_back(1);
  for (int i = a; i < from.n; ++i) {
    if (i <= b) to[a] *= from.d[i];
    else to.push_back(from.d[i]);
  }
  return to;
}

/// A new dimension of size 1 at dim.
[[gnu::noinline, gnu::cold]] inline Shape unsqueezed_shape(ShapeRef from, Index dim) {
  const int at = wrap_dim("unsqueeze", dim, from.n + 1);
  Shape to(from.d, at);
  to.push_back(1);
  for (int i = at; i < from.n; ++i) to.push_back(from.d[i]);
  return to;
}

// ---- on the tape ----

TensorImpl* permute(const OpName& op, TensorImpl* x, const Dims& order);
TensorImpl* reshape(const OpName& op, TensorImpl* x, const Shape& to, const DeviceOps& device);

struct PermuteGradient {
  Dims inverse;
  TensorImpl* operator()(TensorImpl* g) const { return permute({"permute", {}}, g, inverse); }
};
/// order: numbers in [0, ndim), each once.
[[gnu::noinline, gnu::cold]] inline TensorImpl* permute(const OpName& op, TensorImpl* x, const Dims& order) {
  Dims inverse = order;
  for (int i = 0; i < order.n; ++i) inverse[int(order[i])] = i;
  return recorded(op, permuted(x, order), x, PermuteGradient{inverse});
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* transpose(const OpName& op, TensorImpl* x, Index dim0, Index dim1) {
  const int a = wrap_dim(op.name, dim0, x->ndim), b = wrap_dim(op.name, dim1, x->ndim);
  Dims order;
  for (int i = 0; i < x->ndim; ++i) order.push_back(i == a ? b : i == b ? a : i);
  return permute(op, x, order);
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* slice(const OpName& op, TensorImpl* x, Index dim, Slice range) {
  if (x->ndim == 0) fail(op.name, {"a 0-d tensor has no dimension to slice"});
  const int d = wrap_dim(op.name, dim, x->ndim);
  if (range.step <= 0) fail(op.name, {"the step must be positive, not ", range.step});
  const Index size = x->dims[d];
  const auto clip = [size](Index at) {
    if (at < 0) at += size;
    return at < 0 ? Index(0) : at > size ? size : at;
  };
  const Index start = clip(range.start), stop = range.stop == Slice::open ? size : clip(range.stop);
  const Index count = stop > start ? (stop - start + range.step - 1) / range.step : 0;
  TensorImpl* const y = sliced(x, d, start, count, range.step);
  return recording(x) ? recorded(op, y, x, region_in_dense(*x, *y, d, start, range.step)) : y;
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* select(const OpName& op, TensorImpl* x, Index dim, Index position) {
  if (x->ndim == 0) fail(op.name, {"a 0-d tensor has no dimension to select from"});
  const int d = wrap_dim(op.name, dim, x->ndim);
  const Index size = x->dims[d], at = position < 0 ? position + size : position;
  if (at < 0 || at >= size) fail(op.name, {"position ", position, " is outside a dimension of size ", size});
  TensorImpl* const y = without_dim(x, d, at);
  return recording(x) ? recorded(op, y, x, region_in_dense(*x, *y, d, at, 0)) : y;
}

/// The engine sums the gradient to x's shape.
[[gnu::noinline, gnu::cold]] inline TensorImpl* expand(const OpName& op, TensorImpl* x, const Shape& to) {
  return recorded(op, expanded(x, to), x, Unchanged());
}

struct ReshapeGradient {
  Shape shape;
  const DeviceOps* device;
  TensorImpl* operator()(TensorImpl* g) const { return reshape({"reshape", {}}, g, shape, *device); }
};
/// Null where strides do not allow it without a copy.
[[gnu::noinline, gnu::cold]] inline TensorImpl* view(const OpName& op, TensorImpl* x, const Shape& to,
                                                     const DeviceOps& device) {
  TensorImpl* const y = viewed(x, inferred_shape(op.name, *x, to));
  return y ? recorded(op, y, x, ReshapeGradient{x->shape(), &device}) : nullptr;
}
[[gnu::noinline, gnu::cold]] inline TensorImpl* reshape(const OpName& op, TensorImpl* x, const Shape& to,
                                                        const DeviceOps& device) {
  if (TensorImpl* const y = view(op, x, to, device)) return y;
  const Owned dense(contiguous({"contiguous", op.here}, x, device));
  return view(op, dense.impl, to, device);
}

}  // namespace detail

/// Dimension i of the result is dimension dims[i] of x.
template <Device D, Element T>
Tensor<D, T> permute(const Tensor<D, T>& x, Dims dims, Here here = {}) {
  const int n = x.checked("permute")->ndim;
  if (dims.n != n || (n > 0 && dim_mask("permute", dims, n) != (1u << n) - 1))
    fail("permute", {"dimensions ", dims, " are not a permutation of those of ", x.impl()->shape_ref()});
  for (int i = 0; i < n; ++i) dims[i] = wrap_dim("permute", dims[i], n);
  return Tensor<D, T>(detail::permute({"permute", here}, x.impl(), dims));
}

/// Two dimensions swapped.
template <Device D, Element T>
Tensor<D, T> transpose(const Tensor<D, T>& x, Index dim0, Index dim1, Here here = {}) {
  return Tensor<D, T>(detail::transpose({"transpose", here}, x.checked("transpose"), dim0, dim1));
}

/// The transposed matrix; a vector stays as it is.
template <Device D, Element T>
Tensor<D, T> t(const Tensor<D, T>& x, Here here = {}) {
  if (x.checked("t")->ndim > 2) fail("t", {"a matrix or a vector is needed, not ", x.impl()->shape_ref()});
  return x.dim() < 2 ? x : transpose(x, 0, 1, here);
}

/// Every step-th position of a dimension from start to stop.
template <Device D, Element T>
Tensor<D, T> slice(const Tensor<D, T>& x, Index dim, Slice range, Here here = {}) {
  return Tensor<D, T>(detail::slice({"slice", here}, x.checked("slice"), dim, range));
}

/// The positions start … start + length - 1 of a dimension.
template <Device D, Element T>
Tensor<D, T> narrow(const Tensor<D, T>& x, Index dim, Index start, Index length, Here here = {}) {
  const Index size = x.checked("narrow")->ndim ? x.size(dim) : 0;
  if (start < 0) start += size;
  if (start < 0 || length < 0 || start + length > size)
    fail("narrow", {"positions ", start, " to ", start + length, " are outside a dimension of size ", size});
  return slice(x, dim, {start, start + length}, here);
}

/// One position of a dimension, which is removed.
template <Device D, Element T>
Tensor<D, T> select(const Tensor<D, T>& x, Index dim, Index position, Here here = {}) {
  return Tensor<D, T>(detail::select({"select", here}, x.checked("select"), dim, position));
}

/// x stretched along dimensions of size 1, and new ones in front; -1 keeps a size.
template <Device D, Element T>
Tensor<D, T> expand(const Tensor<D, T>& x, Shape to, Here here = {}) {
  return Tensor<D, T>(detail::expand({"expand", here}, x.checked("expand"), to));
}

/// The elements in another shape, never copied; one size may be -1. Error where strides do not allow it.
template <Device D, Element T>
Tensor<D, T> view(const Tensor<D, T>& x, Shape to, Here here = {}) {
  TensorImpl* const y = detail::view({"view", here}, x.checked("view"), to, detail::device_ops<D>);
  if (!y)
    fail("view",
         {"strides ", x.strides(), " of ", x.shape(), " do not allow shape ", to, " without a copy; use reshape"});
  return Tensor<D, T>(y);
}

/// The elements in another shape; copied only where strides demand it.
template <Device D, Element T>
Tensor<D, T> reshape(const Tensor<D, T>& x, Shape to, Here here = {}) {
  return Tensor<D, T>(detail::reshape({"reshape", here}, x.checked("reshape"), to, detail::device_ops<D>));
}

/// The dimensions start … end become one.
template <Device D, Element T>
Tensor<D, T> flatten(const Tensor<D, T>& x, Index start = 0, Index end = -1, Here here = {}) {
  const Shape to = detail::flattened_shape(x.checked("flatten")->shape_ref(), start, end);
  return to == x.shape() ? x : reshape(x, to, here);
}

/// Without the named dimensions that are of size 1; without names, all of them.
template <Device D, Element T>
Tensor<D, T> squeeze(const Tensor<D, T>& x, Dims dims = {}, Here here = {}) {
  const unsigned mask = dim_mask("squeeze", dims, x.checked("squeeze")->ndim);
  Shape to;
  for (int i = 0; i < x.impl()->ndim; ++i)
    if (x.impl()->dims[i] != 1 || !(mask >> i & 1)) to.push_back(x.impl()->dims[i]);
  return view(x, to, here);
}

/// With a new dimension of size 1 at dim.
template <Device D, Element T>
Tensor<D, T> unsqueeze(const Tensor<D, T>& x, Index dim, Here here = {}) {
  return view(x, detail::unsqueezed_shape(x.checked("unsqueeze")->shape_ref(), dim), here);
}

/// Pieces of the given sizes along a dimension.
template <Device D, Element T>
std::vector<Tensor<D, T>> split(const Tensor<D, T>& x, const std::vector<Index>& sizes, Index dim = 0, Here here = {}) {
  Index total = 0;
  for (Index size : sizes) total += size;
  if (total != x.size(dim)) fail("split", {"sizes add up to ", total, ", not to the dimension's ", x.size(dim)});
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
std::vector<Tensor<D, T>> split(const Tensor<D, T>& x, Index size, Index dim = 0, Here here = {}) {
  const Index total = x.checked("split")->ndim ? x.size(dim) : 0;
  if (size < 0 || (size == 0 && total > 0)) fail("split", {"the size of a piece must be positive, not ", size});
  std::vector<Index> sizes;
  for (Index start = 0; start < total; start += size) sizes.push_back(total - start < size ? total - start : size);
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, dim, here);
}

/// At most so many pieces of equal size; the last may be smaller.
template <Device D, Element T>
std::vector<Tensor<D, T>> chunk(const Tensor<D, T>& x, Index chunks, Index dim = 0, Here here = {}) {
  if (chunks <= 0) fail("chunk", {"the number of pieces must be positive, not ", chunks});
  const Index size = x.checked("chunk")->ndim ? x.size(dim) : 0;
  if (size == 0) return split(x, std::vector<Index>(std::size_t(chunks), 0), dim, here);
  return split(x, (size + chunks - 1) / chunks, dim, here);
}

/// All positions of a dimension, each without it.
template <Device D, Element T>
std::vector<Tensor<D, T>> unbind(const Tensor<D, T>& x, Index dim = 0, Here here = {}) {
  const ErrorName name("unbind");
  const Index size = x.checked("unbind")->ndim ? x.size(dim) : 0;
  if (x.dim() == 0) fail("unbind", {"a 0-d tensor has no dimension to unbind"});
  std::vector<Tensor<D, T>> pieces;
  for (Index i = 0; i < size; ++i) pieces.push_back(select(x, dim, i, here));
  return pieces;
}

}  // namespace tern
