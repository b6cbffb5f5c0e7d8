// The functions of views.hpp that are not templates.
#pragma once
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE TensorImpl* attach_view(TensorImpl* view, TensorImpl* of) {
  update_contiguous(*view);
  if (tape.grad_mode) {
    view->base = of->base ? of->base : of;
    view->base->refs.increase();
    view->view_version = view->owner->version;
  }
  return view;
}

TERN_COLD TensorImpl* permuted(TensorImpl* a, const Dims& order) {
  TensorImpl* const v = new_alias(a);
  v->ndim = a->ndim;
  for (int i = 0; i < a->ndim; ++i) v->dims[i] = a->dims[order.d[i]], v->strides[i] = a->strides[order.d[i]];
  return attach_view(v, a);
}

TERN_COLD TensorImpl* sliced(TensorImpl* a, int dim, Index start, Index count, Index step) {
  TensorImpl* const v = new_detached(a);
  v->data += start * a->strides[dim] * size_of(a->dtype);
  v->dims[dim] = count;
  v->strides[dim] *= step;
  v->numel = v->shape().numel();
  return attach_view(v, a);
}

TERN_COLD TensorImpl* without_dim(TensorImpl* a, int dim, Index position) {
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

TERN_COLD TensorImpl* expanded(const CallSite& op, TensorImpl* a, const Shape& to) {
  Shape shape = to;
  if (to.n < a->ndim) Error::fail(op, {"cannot expand ", a->shape_ref(), " to fewer dimensions ", to});
  TensorImpl view_shape{};
  for (int i = to.n; i-- > 0;) {
    const int j = i - (to.n - a->ndim);
    const Index size = j < 0 ? 1 : a->dims[j];
    if (to.d[i] == -1 && j >= 0) shape.d[i] = size;
    if (shape.d[i] != size && (size != 1 || shape.d[i] < 0))
      Error::fail(op, {"cannot expand ", a->shape_ref(), " to ", to});
    view_shape.strides[i] = j < 0 || (size == 1 && shape.d[i] != 1) ? 0 : a->strides[j];
  }
  const Index numel = checked_numel(op, shape);
  TensorImpl* const v = new_alias(a);
  v->ndim = std::uint8_t(to.n);
  for (int i = 0; i < to.n; ++i) v->dims[i] = shape.d[i], v->strides[i] = view_shape.strides[i];
  v->numel = numel;
  return attach_view(v, a);
}

TERN_COLD Shape inferred_shape(const CallSite& op, const Array& a, const Shape& to) {
  Shape shape = to;
  int unknown = -1;
  for (int i = 0; i < to.n; ++i) {
    if (to.d[i] >= 0) continue;
    if (to.d[i] != -1 || unknown >= 0) Error::fail(op, {"only one size of ", to, " may be negative, and must be -1"});
    shape.d[unknown = i] = 1;
  }
  const Index known = checked_numel(op, shape);
  if (unknown < 0 ? known != a.numel : known == 0 || a.numel % known != 0)
    Error::fail(op, {"shape ", to, " does not fit the elements of ", a.shape_ref()});
  if (unknown >= 0) shape.d[unknown] = a.numel / known;
  return shape;
}

TERN_COLD bool view_strides(const Array& a, const Shape& shape, Index* strides) {
  if (a.contiguous || a.numel == 0) {
    Index stride = 1;
    for (int i = shape.n; i-- > 0;) {
      strides[i] = stride;
      stride *= shape.d[i] > 0 ? shape.d[i] : 1;
    }
    return true;
  }
  // From the right: each run of a's dimensions that is one stretch of memory is split into whole dimensions of the new
  // shape.
  int k = shape.n - 1;
  Index run = 1, run_stride = a.ndim ? a.strides[a.ndim - 1] : 1, taken = 1;
  for (int i = a.ndim; i-- > 0;) {
    if (run == 1) run_stride = a.strides[i];
    run *= a.dims[i];
    const bool run_ends = i == 0 || (a.dims[i - 1] != 1 && a.strides[i - 1] != run * run_stride);
    if (!run_ends) continue;
    while (k >= 0 && (taken < run || shape.d[k] == 1)) {
      strides[k] = taken * run_stride;
      taken *= shape.d[k--];
    }
    if (taken != run) return false;
    run = taken = 1;
  }
  return k == -1;
}

TERN_COLD TensorImpl* viewed(TensorImpl* a, const Shape& shape) {
  Index strides[max_dims];
  if (!view_strides(*a, shape, strides)) return nullptr;
  TensorImpl* const v = new_alias(a);
  v->ndim = std::uint8_t(shape.n);
  for (int i = 0; i < shape.n; ++i) v->dims[i] = shape.d[i], v->strides[i] = strides[i];
  return attach_view(v, a);
}

TERN_COLD Shape flattened_shape(const CallSite& op, ShapeRef from, Index start, Index end) {
  const int a = wrap_dim(op, start, from.n), b = wrap_dim(op, end, from.n);
  if (a > b) Error::fail(op, {"start dimension ", start, " comes after end dimension ", end});
  Shape to(from.d, a);
  to.push_back(1);
  for (int i = a; i < from.n; ++i) {
    if (i <= b) to[a] *= from.d[i];
    else to.push_back(from.d[i]);
  }
  return to;
}

TERN_COLD void check_pieces(const CallSite& op, Index count) {
  if (count > Index(memory::machine_bytes() / sizeof(TensorImpl)))
    Error::fail(op, {"out of memory: ", count, " tensors do not fit in memory"});
}

TERN_COLD Shape unsqueezed_shape(const CallSite& op, ShapeRef from, Index dim) {
  const int at = wrap_dim(op, dim, from.n + 1);
  Shape to(from.d, at);
  to.push_back(1);
  for (int i = at; i < from.n; ++i) to.push_back(from.d[i]);
  return to;
}

TERN_COLD TensorImpl* permute(const CallSite& op, TensorImpl* x, const Dims& order) {
  Dims inverse = order;
  for (int i = 0; i < order.n; ++i) inverse[int(order[i])] = i;
  return recorded(op, permuted(x, order), x, PermuteGradient{inverse});
}

TERN_COLD TensorImpl* transpose(const CallSite& op, TensorImpl* x, Index dim0, Index dim1) {
  const int a = wrap_dim(op, dim0, x->ndim), b = wrap_dim(op, dim1, x->ndim);
  Dims order;
  for (int i = 0; i < x->ndim; ++i) order.push_back(i == a ? b : i == b ? a : i);
  return permute(op, x, order);
}

TERN_COLD TensorImpl* slice(const CallSite& op, TensorImpl* x, Index dim, Slice range) {
  if (x->ndim == 0) Error::fail(op, {"a 0-d tensor has no dimension to slice"});
  const int d = wrap_dim(op, dim, x->ndim);
  if (range.step <= 0) Error::fail(op, {"the step must be positive, not ", range.step});
  const Index size = x->dims[d];
  const auto clip = [size](Index at) {
    if (at < 0) at += size;
    return at < 0 ? Index(0) : at > size ? size : at;
  };
  const Index start = clip(range.start), stop = clip(range.stop);
  const Index step = std::min(range.step, std::max<Index>(size, 1));  // any larger one takes the same positions
  const Index count = stop > start ? (stop - start - 1) / step + 1 : 0;
  TensorImpl* const y = sliced(x, d, start, count, step);
  return recording(x) ? recorded(op, y, x, region_in_dense(*x, *y, d, start, step)) : y;
}

TERN_COLD TensorImpl* select(const CallSite& op, TensorImpl* x, Index dim, Index position) {
  if (x->ndim == 0) Error::fail(op, {"a 0-d tensor has no dimension to select from"});
  const int d = wrap_dim(op, dim, x->ndim);
  const Index size = x->dims[d], at = position < 0 ? position + size : position;
  if (at < 0 || at >= size) Error::fail(op, {"position ", position, " is outside a dimension of size ", size});
  TensorImpl* const y = without_dim(x, d, at);
  return recording(x) ? recorded(op, y, x, region_in_dense(*x, *y, d, at, 0)) : y;
}

TERN_COLD TensorImpl* expand(const CallSite& op, TensorImpl* x, const Shape& to) {
  return recorded(op, expanded(op, x, to), x, Unchanged());
}

TERN_COLD TensorImpl* view(const CallSite& op, TensorImpl* x, const Shape& to, const DeviceOps& device) {
  TensorImpl* const y = viewed(x, inferred_shape(op, *x, to));
  return y ? recorded(op, y, x, ReshapeGradient{x->shape(), &device}) : nullptr;
}

TERN_COLD TensorImpl* reshape(const CallSite& op, TensorImpl* x, const Shape& to, const DeviceOps& device) {
  if (TensorImpl* const y = view(op, x, to, device)) return y;
  const Owned dense(contiguous({"contiguous", op}, x, device));
  return view(op, dense.impl, to, device);
}

}}}  // namespace tern::detail
