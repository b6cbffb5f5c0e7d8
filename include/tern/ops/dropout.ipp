// The functions of dropout.hpp that are not templates.
#pragma once
#include "dropout.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void check_probability(const CallSite& op, double p) {
  if (!(p >= 0 && p <= 1)) Error::fail(op, {"the probability must be in [0, 1], not ", p});
}

TERN_COLD void check_dropout(const CallSite& op, const Array* x, double p, int least_dims) {
  if (!x) Error::fail(op, {"a tensor is undefined"});
  check_probability(op, p);
  if (x->ndim < least_dims)
    Error::fail(op, {"an input of at least ", least_dims, " dimensions is needed, not ", x->shape_ref()});
}

TERN_COLD Shape channels_shape(ShapeRef x, int single) {
  Shape shape(x.d, x.n);
  for (int i = x.n == single ? 1 : 2; i < x.n; ++i) shape[i] = 1;
  return shape;
}

}}}  // namespace tern::detail
