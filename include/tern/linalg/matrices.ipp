// The functions of matrices.hpp that are not templates.
#pragma once
#include "matrices.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE void check_matrices(const char* op, const Array& a) {
  if (a.ndim < 2) Error::fail(op, {"a matrix or a batch of matrices is needed, not ", a.shape()});
}

TERN_INLINE void check_square(const char* op, const Array& a) {
  check_matrices(op, a);
  if (a.dims[a.ndim - 2] != a.dims[a.ndim - 1]) Error::fail(op, {"the matrices must be square, not ", a.shape()});
}

TERN_INLINE Shape vectors_of(const Array& a, Index length) {
  Shape shape(a.dims, a.ndim - 2);
  shape.push_back(length);
  return shape;
}

TERN_INLINE Shape matrices_of(const Array& a, Index rows, Index columns) {
  Shape shape = vectors_of(a, rows);
  shape.push_back(columns);
  return shape;
}

TERN_INLINE bool are_vectors(const Array& b, const Array& a) {
  return b.ndim == 1 || (b.ndim == a.ndim - 1 && b.shape() == vectors_of(a, a.dims[a.ndim - 2]));
}

TERN_INLINE TensorImpl* transposed_matrices(const TensorImpl* a) {
  TensorImpl* const p = new_detached(a);
  std::swap(p->dims[p->ndim - 2], p->dims[p->ndim - 1]);
  std::swap(p->strides[p->ndim - 2], p->strides[p->ndim - 1]);
  update_contiguous(*p);
  return p;
}

}}}  // namespace tern::detail
