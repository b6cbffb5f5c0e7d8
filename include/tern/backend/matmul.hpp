// The contract: the matrix product.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: c = a b, + bias if given, + c if accumulating, for each matrix of a batch. a is [.., m, k], b [.., k, n],
/// c [.., m, n] and bias [n]. a and b have c's batch dimensions, or none if the whole batch shares the matrix. One
/// stride steps through a batch (one_batch_stride). The columns of c and the elements of bias are adjacent; other
/// strides are arbitrary, 0 included. c overlaps neither a nor b. Integers wrap around.
struct MatMul {
  const Array& c;
  const Array& a;
  const Array& b;
  const Array* bias = nullptr;
  bool accumulate = false;
};

/// The stride from one matrix of a batch to the next. False if the batch dimensions (those before the last two) need
/// more than one stride.
inline bool one_batch_stride(const Array& a, Index& stride) {
  stride = 0;
  Index count = 1;  // matrices in the dimensions visited so far, from the innermost
  for (int i = a.ndim - 2; i-- > 0;) {
    if (a.dims[i] == 1) continue;
    if (count == 1) stride = a.strides[i];
    else if (a.strides[i] != stride * count) return false;
    count *= a.dims[i];
  }
  return true;
}

/// That stride, for an operand.
inline Index batch_stride(const Array& a) {
  Index stride;
  one_batch_stride(a, stride);
  return stride;
}

/// How many matrix products the op is.
inline Index batch_size(const MatMul& op) {
  Index count = 1;
  for (int i = 0; i < op.c.ndim - 2; ++i) count *= op.c.dims[i];
  return count;
}

}}}  // namespace tern::detail::backend
