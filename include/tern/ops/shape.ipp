// The functions of shape.hpp that are not templates.
#pragma once
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE TensorImpl* diagonal_view(const CallSite& op, TensorImpl* a, Index offset, int dim1, int dim2) {
  Region region;  // its position in a row-major tensor of a's shape
  Array dense = *a;
  set_contiguous_strides(dense);
  // Beyond the matrix every diagonal is empty.
  const Index row = -std::clamp<Index>(offset, -a->dims[dim1], 0), column = std::clamp<Index>(offset, 0, a->dims[dim2]);
  const Index rows = a->dims[dim1] - row, columns = a->dims[dim2] - column, length = rows < columns ? rows : columns;
  TensorImpl* const v = new_alias(a);
  v->ndim = std::uint8_t(a->ndim - 1);
  int k = 0;
  for (int i = 0; i < a->ndim; ++i)
    if (i != dim1 && i != dim2)
      v->dims[k] = a->dims[i], v->strides[k] = a->strides[i], region.strides[k++] = dense.strides[i];
  v->dims[k] = length;
  v->strides[k] = a->strides[dim1] + a->strides[dim2];
  region.strides[k] = dense.strides[dim1] + dense.strides[dim2];
  v->numel = v->shape().numel();
  if (v->numel) v->data += (row * a->strides[dim1] + column * a->strides[dim2]) * size_of(a->dtype);
  attach_view(v, a);
  region.base_ndim = a->ndim, region.ndim = v->ndim;
  for (int i = 0; i < a->ndim; ++i) region.base_dims[i] = dense.dims[i], region.base_strides[i] = dense.strides[i];
  for (int i = 0; i < v->ndim; ++i) region.dims[i] = v->dims[i];
  region.offset = v->numel ? (row * dense.strides[dim1] + column * dense.strides[dim2]) * size_of(a->dtype) : 0;
  region.op = RegionOp::put;
  if (const Node* const node = recording(a)) region.ops = node->ops;
  return recorded(op, v, a, region);
}

}}}  // namespace tern::detail
