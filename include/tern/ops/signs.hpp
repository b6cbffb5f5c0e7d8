// Signs taken from numbers: signbit, copysign, heaviside.
#pragma once
#include "rounding.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// True for negative numbers and -0. NaN has no sign.
template <Device D, Element T>
Tensor<D, bool> signbit(const Tensor<D, T>& x, CallSite here = {}) {
  const auto is_negative = [](auto v) { return (v < 0) | ((v == 0) & (1 / v < 0)); };
  if constexpr (detail::is_floating_v<T>) return detail::map<bool>({"signbit", here}, is_negative, x);
  else return lt(x, 0, here);
}

/// |a| with the sign of b, also of -0. The gradient at a = 0, and that of b, is 0.
template <Device D, Floating T>
Tensor<D, T> copysign(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"copysign", here};
  const CallScope scope(op);
  Tensor<D, T> y;
  {
    const NoGradGuard off;
    const Tensor<D, T> size = abs(a, here);
    y = where(signbit(b, here), neg(size, here), size, here);
  }
  record(op, y,
         wrt(a, saved(a, y),
             [](const auto& g, const auto& in, const auto& out) { return mul(g, mul(sign(in), sign(out))); }),
         wrt(b, [](const auto& g) { return zeros_like(g); }));
  return y;
}
template <Device D, Floating T>
Tensor<D, T> copysign(const Tensor<D, T>& a, detail::RealNumber b, CallSite here = {}) {
  const CallScope scope({"copysign", here});
  const Tensor<D, T> size = abs(a, here);
  return std::signbit(b.value()) ? neg(size, here) : size;
}
TERN_SAME_PLACE(copysign)

/// 0 for negative x, 1 for positive x, and the values where x is 0. Only the values have a gradient.
template <Device D, Element T>
Tensor<D, T> heaviside(const Tensor<D, T>& x, const Tensor<D, T>& values, CallSite here = {}) {
  const CallScope scope({"heaviside", here});
  return where(eq(x, 0, here), values, to_type(gt(x, 0, here), detail::Type<T>{}, here), here);
}
TERN_SAME_PLACE(heaviside)

}}  // namespace tern
