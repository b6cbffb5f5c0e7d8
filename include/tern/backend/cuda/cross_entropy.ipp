// The functions of cross_entropy.hpp that are not templates.
#pragma once
#include "cross_entropy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE RowPieces class_pieces(const Array& x) {
  RowPieces rows(detail::RowsAlong(x, 1), x.dtype);
  if (!x.contiguous) rows.layout.pitch = x.strides[0];
  return rows;
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const CrossEntropy& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x, &op.target, op.weight};
  const int ordinal = common_ordinal(op.y, arrays, op.weight ? 3 : 2);
  const RowPieces rows = class_pieces(op.x);
  const DType type = op.x.dtype;
  const Index count = op.target.numel, bytes = detail::size_of(op.log_sum.dtype),
              blocks = std::min<Index>(count / 1024 + 1, 256);
  const cuda::detail::Scratch sums(ordinal, std::size_t(2 * count * bytes + blocks * 16));
  char *const losses = sums.data() + blocks * 16, *const weights = losses + count * bytes;
  const bool each = op.options.reduction == Reduction::none;
  rows.launch(ordinal, cross_entropy_kernel, {&op.x},
              {.in = class_rows(op, rows),
               .log_sum = op.log_sum.data,
               .losses = losses,
               .weights = weights,
               .y = each ? op.y.data : nullptr,
               .report = {ordinal, op.options.op, detail::BadElement::target}});
  launch_typed(ordinal, loss_sums_kernel, {type}, {blocks},
               {.count = count, .losses = losses, .weights = weights, .sums = sums.data()});
  launch_typed(ordinal, loss_total_kernel, {type}, {1},
               {.sums = sums.data(),
                .count = blocks,
                .y = each ? nullptr : op.y.data,
                .total = op.total.data,
                .mean = op.options.reduction == Reduction::mean});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const CrossEntropyGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.g, &op.x, &op.target, op.weight};
  const int ordinal = common_ordinal(op.dx, arrays, op.weight ? 4 : 3);
  const RowPieces rows = class_pieces(op.x);
  rows.launch(ordinal, cross_entropy_gradient_kernel, {&op.x, &op.dx},
              {.in = class_rows(op, rows),
               .log_sum = op.log_sum.data,
               .total = op.total.data,
               .g = op.g.data,
               .dx = op.dx.data,
               .each = op.options.reduction == Reduction::none});
}

}}}  // namespace tern::detail::backend
