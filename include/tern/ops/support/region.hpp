// The part of a tensor that a view of it covers, as ops: take reads it, put writes it into zeros, clear writes zeros
// into it. Gradients of views whose base was written in place go through them. put and take are each other's adjoint,
// clear is its own, so the gradient of a region op is a region op. No types: elements are copied, and zeros are zeros.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../autograd/record.hpp"

namespace tern::inline TERN_BUILD::detail {

enum class RegionOp : std::uint8_t { take, put, clear };

/// A view's place in its base, and what is done with it.
struct Region {
  const GradOps* ops;  // of the base's device and element type
  RegionOp op;
  std::uint8_t base_ndim, ndim;
  Index base_dims[max_dims], base_strides[max_dims], dims[max_dims], strides[max_dims];
  Index offset;  // bytes

  /// The op applied to x, on the tape: to a tensor in the base's shape, or for put in the view's.
  TensorImpl* operator()(TensorImpl* x) const;
};

inline Region region_of(const Array& view, const Array& base, RegionOp op, const GradOps* ops) {
  Region r;
  r.ops = ops;
  r.op = op;
  r.base_ndim = base.ndim;
  r.ndim = view.ndim;
  for (int i = 0; i < base.ndim; ++i) r.base_dims[i] = base.dims[i], r.base_strides[i] = base.strides[i];
  for (int i = 0; i < view.ndim; ++i) r.dims[i] = view.dims[i], r.strides[i] = view.strides[i];
  r.offset = view.data - base.data;
  return r;
}

/// The region that a slice or a selection takes of a row-major tensor of x's shape: position start of dimension dim,
/// and with a step (not 0, which is for a selection) on from there. As the gradient of that: put.
[[gnu::noinline, gnu::cold]] inline Region region_in_dense(const TensorImpl& x, const Array& view, int dim, Index start,
                                                           Index step) {
  Array dense = x;
  set_contiguous_strides(dense);
  Region r = region_of(view, x, RegionOp::put, x.node->ops);
  r.offset = start * dense.strides[dim] * size_of(x.dtype);
  for (int i = 0, k = 0; i < x.ndim; ++i) {
    r.base_strides[i] = dense.strides[i];
    if (i == dim && step == 0) continue;
    r.strides[k++] = dense.strides[i] * (i == dim ? step : 1);
  }
  return r;
}

/// The region as an array over a buffer that has the base's memory order.
inline Array region_array(const Array& whole, const Region& r) {
  Array a = whole;
  a.ndim = r.ndim;
  a.numel = 1;
  for (int i = 0; i < r.ndim; ++i) a.dims[i] = r.dims[i], a.strides[i] = r.strides[i], a.numel *= r.dims[i];
  a.data += r.offset;
  update_contiguous(a);
  return a;
}

/// A new tensor with the base's sizes and strides.
inline TensorImpl* new_base(DType dtype, const Region& r, int ordinal) {
  TensorImpl* const whole = r.ops->device->allocate(dtype, {r.base_dims, r.base_ndim}, ordinal);
  for (int i = 0; i < r.base_ndim; ++i) whole->strides[i] = r.base_strides[i];
  update_contiguous(*whole);
  return whole;
}

[[gnu::noinline, gnu::cold]] inline TensorImpl* Region::operator()(TensorImpl* x) const {
  const bool shrinks = op == RegionOp::take;
  bool in_order = shrinks;  // x can be read as it is
  for (int i = 0; i < base_ndim; ++i) in_order = in_order && x->strides[i] == base_strides[i];
  Owned whole(in_order ? Unchanged()(x) : new_base(x->dtype, *this, x->ordinal));
  const Array part = region_array(*whole.impl, *this);
  if (op == RegionOp::put) ops->fill(0, *whole.impl);
  if (!in_order) ops->device->copy(op == RegionOp::put ? part : *whole.impl, *x);
  if (op == RegionOp::clear) ops->fill(0, part);
  Region adjoint = *this;
  if (op != RegionOp::clear) adjoint.op = shrinks ? RegionOp::put : RegionOp::take;
  if (!shrinks) return recorded({"region", {}}, whole.take(), x, adjoint);
  Owned y(ops->device->allocate(x->dtype, {dims, ndim}, x->ordinal));
  ops->device->copy(*y.impl, part);
  return recorded({"region", {}}, y.take(), x, adjoint);
}

/// The node of a view whose base was written since, made anew from its base's.
[[gnu::noinline, gnu::cold]] inline void record_view(TensorImpl* view) {
  TensorImpl* const base = view->base;
  const GradOps* const ops = base->node->ops;
  Region put = region_of(*view, *base, RegionOp::put, ops);
  const EdgePlan plan = plain_edge(base, put);
  record_edges({"view", {}}, ops, view, &plan, 1);
}

}  // namespace tern::detail
