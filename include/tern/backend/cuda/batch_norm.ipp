// The functions of batch_norm.hpp that are not templates.
#pragma once
#include "batch_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const BatchNorm& op) {
  using namespace cuda_kernels;
  const Array* const running_mean = op.running_mean ? op.running_mean : &op.x;
  const Array* const running_var = op.running_var ? op.running_var : &op.x;
  const Array* const arrays[] = {&op.mean, &op.scale, running_mean, running_var};
  const int ordinal = common_ordinal(op.x, arrays, 4);
  const ColumnBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1], op.x.dtype);
  const cuda::detail::Scratch moments(ordinal, blocks.sums_bytes(op.mean, blocks.parts));
  blocks.launch(ordinal, batch_norm_parts_kernel, {&op.x},
                {.layout = blocks.layout, .x = op.x.data, .moments = moments.data()});
  const ColumnLayout merge = blocks.over_parts();
  launch_typed(ordinal, batch_norm_statistics_kernel, {op.x.dtype}, {merge.tiles},
               {.layout = merge,
                .rows = blocks.layout.rows,
                .part = blocks.layout.part,
                .moments = moments.data(),
                .mean = op.mean.data,
                .scale = op.scale.data,
                .running_mean = data_of(op.running_mean),
                .running_var = data_of(op.running_var),
                .eps = op.eps,
                .momentum = op.momentum});
  run_normalise(op, op.scale, false);
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const BatchNormInference& op) {
  using namespace cuda_kernels;
  run_normalise(op, op.variance, true);
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const BatchNormGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x, &op.mean, &op.scale, &op.weight, &op.bias};
  const int ordinal = common_ordinal(op.g, arrays, 5);
  const ColumnBlocks blocks(op.x.numel / op.x.dims[1], op.x.dims[1], op.x.dtype);
  const ColumnLayout merge = blocks.over_parts();
  const cuda::detail::Scratch sums(ordinal, blocks.sums_bytes(op.mean, blocks.parts)),
      shares(ordinal, blocks.sums_bytes(op.mean, 1));
  const NormalFactors factors{
      .mean = op.mean.data, .scale = op.scale.data, .weight = op.weight.data, .bias = op.bias.data};
  const PassedGradient in{.g = op.g.data, .x = op.x.data, .y = data_of(op.y), .relu = op.relu};
  blocks.launch(
      ordinal, batch_norm_gradient_parts_kernel,
      {&op.g, &op.x, op.y, op.dresidual, &op.mean, &op.scale, &op.weight, &op.bias},
      {.layout = blocks.layout, .factors = factors, .in = in, .dresidual = data_of(op.dresidual), .sums = sums.data()});
  launch_typed(ordinal, batch_norm_gradient_sums_kernel, {op.x.dtype}, {merge.tiles},
               {.layout = merge,
                .rows = blocks.layout.rows,
                .sums = sums.data(),
                .scale = op.scale.data,
                .dweight = data_of(op.dweight),
                .dbias = data_of(op.dbias),
                .shares = shares.data()});
  if (!op.dx) return;
  blocks.launch(ordinal, batch_norm_gradient_kernel,
                {&op.g, &op.x, op.y, op.dx, &op.mean, &op.scale, &op.weight, &op.bias},
                {.layout = blocks.layout, .factors = factors, .in = in, .dx = op.dx->data, .shares = shares.data()});
}

}}}  // namespace tern::detail::backend
