// The functions of shape.hpp that are not templates.
#pragma once
#include "shape.hpp"

namespace tern::inline TERN_BUILD {

TERN_INLINE int wrap_dim(const OpName& op, Index dim, int n) {
  const int m = n == 0 ? 1 : n;
  if (dim < -m || dim >= m)
    fail(op, {"dimension ", dim, " is out of range [", Index(-m), ", ", Index(m - 1), "]"});
  return int(dim < 0 ? dim + m : dim);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE unsigned dim_mask(const OpName& op, const Dims& dims, int n) {
  if (dims.empty()) return n == 0 ? 0u : (1u << n) - 1;
  unsigned mask = 0;
  for (Index dim : dims) {
    const unsigned bit = 1u << wrap_dim(op, dim, n);
    if (mask & bit) fail(op, {"dimension ", dim, " is named twice"});
    mask |= bit;
  }
  return n == 0 ? 0u : mask;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Shape broadcast_shapes(const OpName& op, ShapeRef a, ShapeRef b) {
  const int n = a.n > b.n ? a.n : b.n;
  Shape out;
  out.n = n;
  for (int i = 0; i < n; ++i) {
    const int ia = i - (n - a.n), ib = i - (n - b.n);
    const Index sa = ia < 0 ? 1 : a.d[ia], sb = ib < 0 ? 1 : b.d[ib];
    if (sa != sb && sa != 1 && sb != 1) fail(op, {"shapes do not broadcast: ", a, " and ", b});
    out.d[i] = sa == 1 ? sb : sa;
  }
  return out;
}

[[gnu::noinline]] TERN_INLINE Shape reduced_shape(ShapeRef shape, unsigned mask, bool keepdim) {
  Shape out;
  for (int i = 0; i < shape.n; ++i) {
    if (!(mask >> i & 1)) out.d[out.n++] = shape.d[i];
    else if (keepdim) out.d[out.n++] = 1;
  }
  return out;
}

}  // namespace tern
