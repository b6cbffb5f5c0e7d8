// Scaled additions to rows.
#pragma once
#include "../../core/error.hpp"
#include "../../expr/math.hpp"
#include "../../expr/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

/// y += scale x for n numbers, calculated in compute_t<T>. y is of that type or of T.
template <class Out, class T>
void add_scaled(Out* y, const T* x, Index n, compute_t<T> scale) {
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  Index i = 0;
  for (; i + V::size <= n; i += V::size)
    detail::expr::store_as<Out>(
        y + i, multiply_add(V(scale), detail::expr::load_as<V>(x + i), detail::expr::load_as<V>(y + i)));
  for (; i < n; ++i) y[i] = Out(C(C(y[i]) + scale * C(x[i])));
}

}  // namespace detail::backend::cpu_kernels
}}  // namespace tern
