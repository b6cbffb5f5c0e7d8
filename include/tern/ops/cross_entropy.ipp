// The functions of cross_entropy.hpp that are not templates.
#pragma once
#include "cross_entropy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_classes(const CallSite& op, const Array& x, const Array* weight) {
  if (x.ndim == 0) Error::fail(op, {"the input must have a dimension of classes"});
  const Index classes = x.dims[x.ndim > 1];
  if (classes == 0) Error::fail(op, {"an input of shape ", x.shape_ref(), " has no classes"});
  if (weight && !(weight->ndim == 1 && weight->dims[0] == classes))
    Error::fail(op, {"weight must be of shape [", classes, "], not ", weight->shape_ref()});
}

TERN_NOINLINE Shape check_target(const CallSite& op, const Array& x, const Array& target) {
  Shape shape;
  for (int i = 0; i < x.ndim; ++i)
    if (i != (x.ndim > 1)) shape.push_back(x.dims[i]);
  if (!(shape == target.shape()))
    Error::fail(op, {"the target of an input of shape ", x.shape_ref(), " must be of shape ", shape, ", not ",
                     target.shape_ref()});
  return shape;
}

}}}  // namespace tern::detail
