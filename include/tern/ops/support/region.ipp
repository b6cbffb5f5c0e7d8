// The functions of region.hpp that are not templates.
#pragma once
#include "region.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE Region region_of(const Array& view, const Array& base, RegionOp op, const GradOps* ops) {
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

TERN_COLD Region region_in_dense(const TensorImpl& x, const Array& view, int dim, Index start, Index step) {
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

TERN_INLINE Array region_array(const Array& whole, const Region& r) {
  Array a = whole;
  a.ndim = r.ndim;
  a.numel = 1;
  for (int i = 0; i < r.ndim; ++i) a.dims[i] = r.dims[i], a.strides[i] = r.strides[i], a.numel *= r.dims[i];
  a.data += r.offset;
  update_contiguous(a);
  return a;
}

TERN_INLINE TensorImpl* new_base(DType dtype, const Region& r, int ordinal) {
  TensorImpl* const whole = r.ops->device->allocate(dtype, {r.base_dims, r.base_ndim}, ordinal);
  for (int i = 0; i < r.base_ndim; ++i) whole->strides[i] = r.base_strides[i];
  update_contiguous(*whole);
  return whole;
}

TERN_COLD TensorImpl* Region::operator()(TensorImpl* x) const {
  const bool shrinks = op == RegionOp::take;
  bool in_order = shrinks;  // x's memory can be used as it is
  for (int i = 0; i < base_ndim; ++i) in_order = in_order && x->strides[i] == base_strides[i];
  Owned whole(in_order ? Unchanged()(x) : new_base(x->dtype, *this, x->ordinal));
  const Array part = region_array(*whole.impl, *this);
  if (op == RegionOp::put) ops->fill(0, *whole.impl);
  if (!in_order) ops->device->copy(op == RegionOp::put ? part : *whole.impl, *x);
  if (op == RegionOp::clear) ops->fill(0, part);
  Region adjoint = *this;
  if (op != RegionOp::clear) adjoint.op = shrinks ? RegionOp::put : RegionOp::take;
  if (!shrinks) return recorded({"region", CallSite::unknown}, whole.take(), x, adjoint);
  Owned y(ops->device->allocate(x->dtype, {dims, ndim}, x->ordinal));
  ops->device->copy(*y.impl, part);
  return recorded({"region", CallSite::unknown}, y.take(), x, adjoint);
}

TERN_COLD void record_view(TensorImpl* view) {
  TensorImpl* const base = view->base;
  const GradOps* const ops = base->node->ops;
  Region put = region_of(*view, *base, RegionOp::put, ops);
  const EdgePlan plan = plain_edge(base, put);
  record_edges({"view", CallSite::unknown}, ops, view, &plan, 1);
}

}}}  // namespace tern::detail
