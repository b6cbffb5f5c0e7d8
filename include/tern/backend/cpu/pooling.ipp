// The functions of pooling.hpp that are not templates.
#pragma once
#include "pooling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_INLINE PoolRange pool_window(const PoolParams& p, int d, Index o, Index in, Index out) {
  if (p.adaptive) {
    const Index first = o * in / out, last = ((o + 1) * in + out - 1) / out;
    return {first, last, 1, 1 / double(last - first)};
  }
  const Index begin = o * p.stride[d] - p.padding[d], step = p.dilation[d];
  const Index first = begin < 0 ? begin + (step - 1 - begin) / step * step : begin;
  const Index end = begin + (p.kernel[d] - 1) * step + 1, last = std::min(end, in);
  const Index counted = p.count_include_pad ? std::min(end, in + p.padding[d]) - begin : last - first;
  const double divisor = double(p.divisor == 0 ? counted : d == 0 ? p.divisor : 1);
  return {first, last, step, last > first ? 1 / divisor : 0};
}

TERN_INLINE PoolRange pool_holders(const PoolParams& p, int d, Index i, Index in, Index out) {
  if (p.adaptive) return {i * out / in, ((i + 1) * out + in - 1) / in, 1, 0};
  const Index beyond = i + p.padding[d] - (p.kernel[d] - 1) * p.dilation[d];
  const Index first = beyond > 0 ? (beyond + p.stride[d] - 1) / p.stride[d] : 0;
  return {first, std::min(out, (i + p.padding[d]) / p.stride[d] + 1), 1, 0};
}

TERN_NOINLINE PoolRanges::PoolRanges(const PoolParams& p, const Images& in, const Images& out, const Images& over,
                                     Range range)
    : ranges_(over.size[0] + over.size[1] + over.size[2]) {
  PoolRange* next = ranges_.get();
  for (int d = 0; d < 3; ++d) {
    along_[d] = next;
    for (Index i = 0; i < over.size[d]; ++i) *next++ = range(p, d, i, in.size[d], out.size[d]);
  }
}

}}}  // namespace tern::detail::backend::cpu_kernels
