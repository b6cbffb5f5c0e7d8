// The functions of softmax.hpp that are not templates.
#pragma once
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const Softmax& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x};
  const int ordinal = common_ordinal(op.y, arrays, 1);
  if (op.y.numel == 0) return;
  const RowPieces rows(detail::RowsAlong(op.y, op.dim), op.y.dtype);
  rows.launch(ordinal, softmax_kernel, {&op.y, &op.x},
              {.rows = rows.layout, .log = op.log, .y = op.y.data, .x = op.x.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const SoftmaxGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.y, &op.g};
  const int ordinal = common_ordinal(op.dx, arrays, 2);
  if (op.dx.numel == 0) return;
  const RowPieces rows(detail::RowsAlong(op.dx, op.dim), op.dx.dtype);
  rows.launch(ordinal, softmax_gradient_kernel, {&op.dx, &op.y, &op.g},
              {.rows = rows.layout, .log = op.log, .dx = op.dx.data, .y = op.y.data, .g = op.g.data});
}

}}}  // namespace tern::detail::backend
