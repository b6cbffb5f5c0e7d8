// The functions of ranking_losses.hpp that are not templates.
#pragma once
#include "ranking_losses.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_same_dims(const CallSite& op, const Array& a, const Array& b) {
  if (a.ndim != b.ndim)
    Error::fail(op, {"tensors with the same number of dimensions are needed: ", a.shape(), " and ", b.shape()});
}

}}}  // namespace tern::detail
