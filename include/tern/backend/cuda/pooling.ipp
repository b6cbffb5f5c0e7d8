// The functions of pooling.hpp that are not templates.
#pragma once
#include "pooling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE PoolLayout pool_layout(const PoolParams& p, const Array& x, const Array& y) {
  const Images in(x), out(y);
  PoolLayout layout{.channels = in.channels,
                    .in = {},
                    .out = {},
                    .kernel = {},
                    .stride = {},
                    .padding = {},
                    .dilation = {},
                    .adaptive = p.adaptive,
                    .count_include_pad = p.count_include_pad,
                    .divisor = p.divisor};
  for (int d = 0; d < 3; ++d) {
    layout.in[d] = in.size[d], layout.out[d] = out.size[d];
    layout.kernel[d] = p.kernel[d], layout.stride[d] = p.stride[d];
    layout.padding[d] = p.padding[d], layout.dilation[d] = p.dilation[d];
  }
  return layout;
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const MaxPool& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x, op.at};
  common_ordinal(op.y, arrays, op.at ? 2 : 1);
  launch_pooling(max_pool_kernel, op.y, op.x,
                 {.layout = pool_layout(op.params, op.x, op.y),
                  .written = op.y.numel,
                  .y = op.y.data,
                  .at = data_of(op.at),
                  .x = op.x.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const MaxPoolGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.dy, &op.at};
  common_ordinal(op.dx, arrays, 2);
  launch_pooling(max_pool_gradient_kernel, op.dx, op.dy,
                 {.layout = pool_layout(op.params, op.dx, op.dy),
                  .written = op.dx.numel,
                  .dx = op.dx.data,
                  .dy = op.dy.data,
                  .at = op.at.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const AveragePool& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.x};
  common_ordinal(op.y, arrays, 1);
  launch_pooling(average_pool_kernel, op.y, op.x,
                 {.layout = pool_layout(op.params, op.x, op.y), .written = op.y.numel, .y = op.y.data, .x = op.x.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const AveragePoolGradient& op) {
  using namespace cuda_kernels;
  const Array* const arrays[] = {&op.dy};
  common_ordinal(op.dx, arrays, 1);
  launch_pooling(
      average_pool_gradient_kernel, op.dx, op.dy,
      {.layout = pool_layout(op.params, op.dx, op.dy), .written = op.dx.numel, .dx = op.dx.data, .dy = op.dy.data});
}

}}}  // namespace tern::detail::backend
