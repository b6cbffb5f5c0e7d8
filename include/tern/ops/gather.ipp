// The functions of gather.hpp that are not templates.
#pragma once
#include "gather.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_gather(const CallSite& op, const Array& x, int dim, const Array& index, bool along_dim) {
  bool fits = index.ndim == x.ndim || (index.ndim <= 1 && x.ndim <= 1);
  for (int i = 0; fits && i < index.ndim && i < x.ndim; ++i)
    fits = (i == dim && !along_dim) || index.dims[i] <= x.dims[i];
  if (!fits && index.numel > 0)
    Error::fail(op, {"index of shape ", index.shape(), " does not fit a tensor of shape ", x.shape()});
}

}}}  // namespace tern::detail
