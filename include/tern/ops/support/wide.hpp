// Compositions of several ops, with one rounding at the end.
#pragma once
#include "../copy.hpp"

namespace tern::inline TERN_BUILD::detail {

/// f(x...), calculated in compute_t<T>. 16-bit tensors are converted before and after; others are passed on as they
/// are.
template <class F, class D, class T, class... X>
Tensor<D, T> rounded_once(const F& f, const Tensor<D, T>& x, const X&... rest) {
  if constexpr (is_half_v<T>)
    return to_type(f(to_type(x, f32), to_type(rest, f32)...), Type<T>{});
  else
    return f(x, rest...);
}

}  // namespace tern::detail
