// The functions of losses.hpp that are not templates.
#pragma once
#include "losses.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE Index loss_count(const CallSite& op, Reduction reduction, const Array& x, const Array& target) {
  if (!same_shape(x, target))
    Error::fail(op, {"input ", x.shape(), " and target ", target.shape(),
                     " must have the same shape; view or expand one of them"});
  return reduction == Reduction::mean ? x.numel : 1;
}

}}}  // namespace tern::detail
