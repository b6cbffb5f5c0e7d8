// Whether two tensors are equal as a whole: equal, allclose. The answer is a bool, for which the host waits.
#pragma once
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD {

/// True if a and b have one shape and equal elements. NaN equals nothing.
template <Device D, Element T>
bool equal(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"equal", here});
  return detail::same_shape(*a.checked("equal"), *b.checked("equal")) && all(eq(a, b)).item(here);
}

/// True if all elements are close: |a - b| <= atol + rtol |b|, as in isclose. a and b are broadcast.
template <Device D, Element T>
bool allclose(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber rtol = 1e-5,
              detail::RealNumber atol = 1e-8, bool equal_nan = false, CallSite here = {}) {
  const CallScope scope({"allclose", here});
  return all(isclose(a, b, rtol, atol, equal_nan)).item(here);
}

TERN_SAME_PLACE(equal)
TERN_SAME_PLACE(allclose)

}}  // namespace tern
