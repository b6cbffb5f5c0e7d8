// The functions of reduce.hpp that are not templates.
#pragma once
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE Reduced::Reduced(const CallSite& op, const Array* const* in, int n, const Dims& dim)
    : shape(in[0]->shape()) {
  count_pass(*in[0], in + 1, n - 1);
  for (int k = 1; k < n; ++k) shape = broadcast_shapes(op, shape, in[k]->shape_ref());
  mask = dim_mask(op, dim, shape.n);
}

TERN_INLINE Index reduced_count(ShapeRef shape, unsigned mask) {
  Index count = 1;
  for (int i = 0; i < shape.n; ++i)
    if (mask >> i & 1) count *= shape.d[i];
  return count;
}

TERN_INLINE Dims masked_dims(unsigned mask) {
  Dims dims;
  for (int i = 0; i < max_dims; ++i)
    if (mask >> i & 1) dims.push_back(i);
  return dims;
}

}}}  // namespace tern::detail
