// The part of a tensor that a view of it covers, as adjoint ops: take_region reads it, put_region writes it into zeros,
// clear_region writes zeros into it. Gradients of views whose base was written in place go through them.
#pragma once
#include "../autograd/record.hpp"
#include "../tensor/map.hpp"

namespace tern::detail {

/// A view's place in its base.
struct Region {
  std::uint8_t base_ndim, ndim;
  Index base_dims[max_dims], base_strides[max_dims], dims[max_dims], strides[max_dims];
  Index offset;  // bytes
};

inline Region region_of(const Array& view, const Array& base) {
  Region r;
  r.base_ndim = base.ndim;
  r.ndim = view.ndim;
  for (int i = 0; i < base.ndim; ++i) r.base_dims[i] = base.dims[i], r.base_strides[i] = base.strides[i];
  for (int i = 0; i < view.ndim; ++i) r.dims[i] = view.dims[i], r.strides[i] = view.strides[i];
  r.offset = view.data - base.data;
  return r;
}

/// The region that a slice or a selection takes of a row-major tensor of x's shape: position start of dimension dim,
/// and with a step (not 0, which is for a selection) on from there.
[[gnu::noinline, gnu::cold]] inline Region region_in_dense(const Array& x, const Array& view, int dim, Index start,
                                                           Index step) {
  Array dense = x;
  set_contiguous_strides(dense);
  Region r = region_of(view, x);
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
template <class D, class T>
Tensor<D, T> empty_base(const Region& r) {
  Tensor<D, T> whole = empty<D, T>(Shape(r.base_dims, r.base_ndim));
  for (int i = 0; i < r.base_ndim; ++i) whole.impl()->strides[i] = r.base_strides[i];
  update_contiguous(*whole.impl());
  return whole;
}

template <class D, class T>
Tensor<D, T> take_region(const Tensor<D, T>& whole, const Region& r);

/// Zeros in the base's shape, with the region set to x.
template <class D, class T>
Tensor<D, T> put_region(const Tensor<D, T>& x, const Region& r) {
  Tensor<D, T> whole = empty_base<D, T>(r);
  backend::fill<T>(D{}, 0, *whole.impl());
  backend::copy(D{}, region_array(*whole.impl(), r), *x.impl());
  record({"put_region", {}}, whole, wrt(x, [r](const Tensor<D, T>& g) { return take_region(g, r); }));
  return whole;
}

/// The region of a tensor in the base's shape, copied.
template <class D, class T>
Tensor<D, T> take_region(const Tensor<D, T>& whole, const Region& r) {
  Tensor<D, T> in_order = whole;
  bool same_order = true;
  for (int i = 0; i < r.base_ndim; ++i) same_order = same_order && whole.impl()->strides[i] == r.base_strides[i];
  if (!same_order) {
    in_order = empty_base<D, T>(r);
    backend::copy(D{}, *in_order.impl(), *whole.impl());
  }
  Tensor<D, T> x = empty<D, T>(Shape(r.dims, r.ndim));
  backend::copy(D{}, *x.impl(), region_array(*in_order.impl(), r));
  record({"take_region", {}}, x, wrt(whole, [r](const Tensor<D, T>& g) { return put_region(g, r); }));
  return x;
}

/// A copy of a tensor in the base's shape with zeros in the region; its own adjoint.
template <class D, class T>
Tensor<D, T> clear_region(const Tensor<D, T>& whole, const Region& r) {
  const Tensor<D, T> y = empty_base<D, T>(r);
  backend::copy(D{}, *y.impl(), *whole.impl());
  backend::fill<T>(D{}, 0, region_array(*y.impl(), r));
  record({"clear_region", {}}, y, wrt(whole, [r](const Tensor<D, T>& g) { return clear_region(g, r); }));
  return y;
}

}  // namespace tern::detail
