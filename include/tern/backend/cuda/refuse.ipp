// The functions of refuse.hpp that are not templates.
#pragma once
#include "refuse.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const RefuseIf& op) {
  using namespace cuda_kernels;
  launch_typed(op.found.ordinal, refuse_if_kernel, {}, {1, 1},
               {.report = {op.found.ordinal, op.op, op.what}, .found = op.found.data});
}

}}}  // namespace tern::detail::backend
