// An activation with random slopes, apart from the others because it takes random numbers.
#pragma once
#include "activations.hpp"
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x if x > 0, else a x. In training each element has its own a, uniform in [lower, upper); otherwise a is their mean
/// (Xu, Wang, Chen, Li: "Empirical evaluation of rectified activations in convolutional network", 2015). Error unless
/// lower <= upper.
template <Device D, Floating T>
Tensor<D, T> rrelu(const Tensor<D, T>& x, double lower = 1. / 8, double upper = 1. / 3, bool training = false,
                   CallSite here = {}) {
  const CallSite op{"rrelu", here};
  const CallScope scope(op);
  if (!(lower <= upper)) Error::fail(op, {"lower ", lower, " is above upper ", upper});
  if (!training) return leaky_relu(x, (lower + upper) / 2, here);
  return detail::leaky_by(op, x, uniform<D, T>(x.checked(op)->shape(), lower, upper, x.device()));
}

}}  // namespace tern
