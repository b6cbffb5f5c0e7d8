// The functions of clip.hpp that are not templates.
#pragma once
#include "clip.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// Calls f(chunks, parameters) for each launch over parts of the gradients, whose places it puts into the parameters.
template <class P, class F>
void each_part(const Array* const* gradients, int count, P parameters, const F& f) {
  constexpr int most = std::extent_v<decltype(P::x)>;
  const int launches = (count + most - 1) / most;
  for (int i = 0; i < launches; ++i) {
    const int first = count * i / launches, last = count * (i + 1) / launches;
    Index total = 0;
    for (int k = first; k < last; ++k) total += gradients[k]->numel;
    if (total == 0) continue;
    Chunks chunks(total);
    parameters.sets = last - first;
    parameters.chunk = chunks.size;
    for (int k = first; k < last; ++k) {
      parameters.ends[k - first] = chunks.add(gradients[k]->numel);
      parameters.x[k - first] = gradients[k]->data;
    }
    f(chunks.grid(), parameters);
  }
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const PowerSum& op) {
  using namespace cuda_kernels;
  const int ordinal = common_ordinal(op.total, op.gradients, op.count);
  const PowerSumParameters parameters{.power = op.p, .sums = nullptr, .sets = 0, .chunk = 0, .ends = {}, .x = {}};
  Index blocks = 0;
  each_part(op.gradients, op.count, parameters, [&](const cuda::Grid& grid, const auto&) { blocks += grid.blocks; });
  const cuda::detail::Scratch sums(ordinal, std::size_t(8 * blocks));
  Index done = 0;
  each_part(op.gradients, op.count, parameters, [&](const cuda::Grid& grid, PowerSumParameters part) {
    part.sums = sums.data() + 8 * done;
    launch_typed(ordinal, power_sum_kernel, {op.gradients[0]->dtype}, grid, part);
    done += grid.blocks;
  });
  launch_typed(ordinal, power_total_kernel, {}, {1}, {.sums = sums.data(), .count = blocks, .total = op.total.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const ScaleGradients& op) {
  using namespace cuda_kernels;
  const int ordinal = common_ordinal(op.factor, op.gradients, op.count);
  const ScaleGradientsParameters parameters{.factor = op.factor.data, .sets = 0, .chunk = 0, .ends = {}, .x = {}};
  each_part(op.gradients, op.count, parameters, [&](const cuda::Grid& grid, const ScaleGradientsParameters& part) {
    launch_typed(ordinal, scale_gradients_kernel, {op.gradients[0]->dtype}, grid, part);
  });
}

}}}  // namespace tern::detail::backend
