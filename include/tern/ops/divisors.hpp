// Common divisors and multiples of integers.
#pragma once
#include "reduce.hpp"
#include "rounding.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The greatest common divisor of a and b, by Euclid's algorithm on all elements at once; that of 0 and b is |b|. The
/// host waits for each of its at most 92 steps.
template <Device D, Element T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
Tensor<D, T> gcd(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"gcd", here};
  const CallScope scope(op);
  const detail::Shape shape = detail::broadcast_shapes(op, a.checked(op)->shape_ref(), b.checked(op)->shape_ref());
  Tensor<D, T> divisor = expand(abs(a, here), shape), rest = expand(abs(b, here), shape);
  for (Tensor<D, bool> done = eq(rest, 0); !all(done).item(here); done = eq(rest, 0)) {
    const Tensor<D, T> next = where(done, 0, remainder(divisor, where(done, 1, rest), here));
    divisor = where(done, divisor, rest);
    rest = next;
  }
  return clone(divisor, here);
}

/// The least common multiple of a and b, which is not negative; 0 if one of them is 0.
template <Device D, Element T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
Tensor<D, T> lcm(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"lcm", here});
  const Tensor<D, T> divisor = gcd(a, b, here);
  return abs(mul(floor_divide(a, where(eq(divisor, 0), 1, divisor), here), b, here), here);
}

TERN_SAME_PLACE(gcd)
TERN_SAME_PLACE(lcm)

}}  // namespace tern
