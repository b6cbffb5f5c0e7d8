// What pooling.hpp declares and is no template.
#pragma once
#include "pooling.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

namespace pooling_detail {

/// Of images x, and y that windows over them make.
inline PoolLayout layout_of(const PoolParams& p, const Array& x, const Array& y) {
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

/// Launches a kernel that writes `written` and reads `read`.
template <class P>
void launch(const KernelOf<P>& kernel, const Array& written, const Array& read, const std::type_identity_t<P>& parameters) {
  const bool wide = std::max(written.numel, read.numel) > Index(1) << 30;
  launch_typed(written.ordinal, kernel, {written.dtype, wide ? DType::int64 : DType::int32}, grid_for(written.numel), parameters);
}

}  // namespace pooling_detail

[[gnu::noinline]] TERN_INLINE void run_max_pool(const MaxPool& op) {
  const Array* const arrays[] = {&op.x, op.at};
  common_ordinal(op.y, arrays, op.at ? 2 : 1);
  pooling_detail::launch(max_pool_kernel, op.y, op.x,
                         {.layout = pooling_detail::layout_of(op.params, op.x, op.y),
                          .written = op.y.numel,
                          .y = op.y.data,
                          .at = data_of(op.at),
                          .x = op.x.data});
}

[[gnu::noinline]] TERN_INLINE void run_max_pool_gradient(const MaxPoolGradient& op) {
  const Array* const arrays[] = {&op.dy, &op.at};
  common_ordinal(op.dx, arrays, 2);
  pooling_detail::launch(max_pool_gradient_kernel, op.dx, op.dy,
                         {.layout = pooling_detail::layout_of(op.params, op.dx, op.dy),
                          .written = op.dx.numel,
                          .dx = op.dx.data,
                          .dy = op.dy.data,
                          .at = op.at.data});
}

[[gnu::noinline]] TERN_INLINE void run_average_pool(const AveragePool& op) {
  const Array* const arrays[] = {&op.x};
  common_ordinal(op.y, arrays, 1);
  pooling_detail::launch(average_pool_kernel, op.y, op.x,
                         {.layout = pooling_detail::layout_of(op.params, op.x, op.y),
                          .written = op.y.numel,
                          .y = op.y.data,
                          .x = op.x.data});
}

[[gnu::noinline]] TERN_INLINE void run_average_pool_gradient(const AveragePoolGradient& op) {
  const Array* const arrays[] = {&op.dy};
  common_ordinal(op.dx, arrays, 1);
  pooling_detail::launch(average_pool_gradient_kernel, op.dx, op.dy,
                         {.layout = pooling_detail::layout_of(op.params, op.dx, op.dy),
                          .written = op.dx.numel,
                          .dx = op.dx.data,
                          .dy = op.dy.data});
}

}  // namespace tern::backend::cuda_kernels
