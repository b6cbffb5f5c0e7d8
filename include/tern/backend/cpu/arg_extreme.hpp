// The position of the largest or smallest element along a dimension.
#pragma once
#include "../../core/config.hpp"
#include "../../core/parallel.hpp"
#include "../../device/device.hpp"
#include "../reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

template <class T>
Index first_extreme(bool largest, const T* p, Index n, Index stride) {
  using C = compute_t<T>;
  Index at = 0;
  C best = C(p[0]);
  for (Index i = 1; i < n && best == best; ++i) {
    const C x = C(p[i * stride]);
    if ((largest ? x > best : x < best) || x != x) {
      best = x;
      at = i;
    }
  }
  return at;
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const ArgExtreme& op) {
  const Array &in = op.in, &out = op.out;
  const int dim = op.dim;
  const Index n = in.dims[dim], stride = in.strides[dim];
  detail::parallel_for(out.numel, 16384 / (n + 1) + 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      Index rest = i, offset = 0;
      for (int d = in.ndim; d-- > 0;) {
        if (d == dim) continue;
        offset += rest % in.dims[d] * in.strides[d];
        rest /= in.dims[d];
      }
      out.as<Index>()[i] = cpu_kernels::first_extreme(op.largest, in.as<T>() + offset, n, stride);
    }
  });
}

}  // namespace detail::backend
}}  // namespace tern
