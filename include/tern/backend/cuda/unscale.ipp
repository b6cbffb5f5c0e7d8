// The functions of unscale.hpp that are not templates.
#pragma once
#include "unscale.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const Unscale& op) {
  using namespace cuda_kernels;
  constexpr int most = std::extent_v<decltype(UnscaleParameters::g)>;
  const Array* const others[] = {&op.found};
  const int ordinal = common_ordinal(op.scale, others, 1);
  common_ordinal(op.scale, op.gradients, op.count);
  const int launches = (op.count + most - 1) / most;
  for (int i = 0; i < launches; ++i) {
    const int first = op.count * i / launches, last = op.count * (i + 1) / launches;
    Index total = 0;
    for (int k = first; k < last; ++k) total += op.gradients[k]->numel;
    Chunks chunks(total);
    UnscaleParameters parameters{.scale = op.scale.data,
                                 .found = op.found.data,
                                 .sets = last - first,
                                 .chunk = chunks.size,
                                 .ends = {},
                                 .g = {}};
    for (int k = first; k < last; ++k) {
      parameters.ends[k - first] = chunks.add(op.gradients[k]->numel);
      parameters.g[k - first] = op.gradients[k]->data;
    }
    if (total) launch_typed(ordinal, unscale_kernel, {op.gradients[0]->dtype}, chunks.grid(), parameters);
  }
}

}}}  // namespace tern::detail::backend
