// The functions of binary_cross_entropy.hpp that are not templates.
#pragma once
#include "binary_cross_entropy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_binary_target(const CallSite& op, const Array& x, const Array& target) {
  if (!same_shape(x, target))
    Error::fail(op, {"the target must have the input's shape ", x.shape_ref(), ", not ", target.shape_ref()});
}

TERN_NOINLINE void check_weight(const CallSite& op, const Array& x, const Array& weight) {
  if (!(broadcast_shapes(op, x.shape_ref(), weight.shape_ref()) == x.shape()))
    Error::fail(op,
                {"a weight of shape ", weight.shape_ref(), " does not broadcast to the input's shape ", x.shape_ref()});
}

}}}  // namespace tern::detail
