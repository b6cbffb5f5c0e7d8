// The functions of layer_norm.hpp that are not templates.
#pragma once
#include "layer_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_normalized(const CallSite& op, const Array& x, const Shape& normalized,
                                    std::initializer_list<const Array*> given) {
  bool fits = normalized.n > 0 && normalized.n <= x.ndim;
  for (int i = 0; i < normalized.n && fits; ++i) fits = x.dims[x.ndim - normalized.n + i] == normalized[i];
  if (!fits) Error::fail(op, {"normalized_shape ", normalized, " is not the end of the input's shape ", x.shape_ref()});
  for (const Array* a : given)
    if (a && !(a->shape() == normalized))
      Error::fail(op, {"weight and bias must be of shape ", normalized, ", not ", a->shape_ref()});
}

}}}  // namespace tern::detail
