// The functions of matmul.hpp that are not templates.
#pragma once
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE TensorImpl* transposed(const TensorImpl* a) {
  TensorImpl* const p = new_detached(a);
  std::swap(p->dims[0], p->dims[1]);
  std::swap(p->strides[0], p->strides[1]);
  update_contiguous(*p);
  return p;
}

TERN_COLD TensorImpl* broadcast_matrices(TensorImpl* x, const Shape& batch, const DeviceOps& device) {
  const NoGradGuard off;
  Shape shape = batch;
  shape.push_back(x->dims[x->ndim - 2]);
  shape.push_back(x->dims[x->ndim - 1]);
  Owned whole(expanded({"expand", CallSite::unknown}, x, shape));
  Index stride;
  return backend::one_batch_stride(*whole.impl, stride) ? whole.take() : copied(device, whole.impl);
}

TERN_COLD void check_dims(const CallSite& op, const Array& a, int a_dims, const Array& b, int b_dims) {
  if (a.ndim != a_dims || b.ndim != b_dims)
    Error::fail(
        op, {Index(a_dims), "-d and ", Index(b_dims), "-d tensors are needed, not ", a.shape(), " and ", b.shape()});
}

TERN_COLD void check_linear(const CallSite& op, const Array& x, const Array& weight, const Array* bias) {
  const int n = weight.ndim;
  if (n < 1 || n > 2 || x.ndim == 0 || x.dims[x.ndim - 1] != weight.dims[n - 1])
    Error::fail(op, {"input ", x.shape(), " does not fit weight ", weight.shape()});
  if (bias && !(bias->shape() == Shape(weight.dims, n - 1)))
    Error::fail(op, {"bias ", bias->shape(), " does not fit weight ", weight.shape()});
}

}}}  // namespace tern::detail
