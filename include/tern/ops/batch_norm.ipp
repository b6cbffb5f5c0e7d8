// The functions of batch_norm.hpp that are not templates.
#pragma once
#include "batch_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void check_channels(const CallSite& op, const Array& x, std::initializer_list<const Array*> each) {
  if (x.ndim < 2) Error::fail(op, {"an input of shape [N, C, ...] is needed, not ", x.shape_ref()});
  for (const Array* a : each)
    if (a && !(a->shape() == Shape(x.dims[1])))
      Error::fail(op, {"weight, bias and running statistics must be of shape ", Shape(x.dims[1]),
                       " for an input of shape ", x.shape_ref(), ", not ", a->shape_ref()});
}

TERN_COLD void check_statistics(const CallSite& op, const Array& x, const Array* residual, const Array* running_mean,
                                const Array* running_var, bool training) {
  if (residual && !same_shape(x, *residual))
    Error::fail(op, {"the residual's shape ", residual->shape_ref(), " is not the input's ", x.shape_ref()});
  if (!running_mean != !running_var)
    Error::fail(op, {"running_mean and running_var belong together: one is undefined"});
  if (!training && !running_mean) Error::fail(op, {"without training it needs running_mean and running_var"});
  if (training && x.numel && x.numel == x.dims[1])
    Error::fail(op, {"training needs more than one value for each channel, which ", x.shape_ref(), " does not have"});
}

TERN_INLINE Shape per_channel_shape(int ndim, Index channels) {
  Shape shape;
  shape.n = ndim;
  for (Index& size : shape) size = 1;
  shape[1] = channels;
  return shape;
}

}}}  // namespace tern::detail
