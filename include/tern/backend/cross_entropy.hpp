// The contract: cross entropy with class indices. A device implements
//
//   cross_entropy<T>(device, p, y, log_sum, total, x, target, weight)
//       For each row of x over dimension 1, with l = log(sum of e^x), t its target, w = weight (null: ones) and
//       s = p.smoothing: loss = (1 - s) w[t] (l - x[t]) + s / C · sum over c of w[c] (l - x[c]), and 0 where t is
//       p.ignore_index. l is 0 if p.normalised. y is the losses, their sum, or their sum over the total of w[t];
//       log_sum, for each row, and total, one number (1 unless the reduction is mean), are for the gradient and of
//       type compute_t<T>.
//   cross_entropy_gradient<T>(device, p, dx, g, log_sum, total, x, target, weight)
//       dx from the gradient g of y.
//
// All arrays are dense. A target out of range is an Error that names it. Cuda, which waits for no kernel, gives such a
// row the loss NaN, and the weight and gradient 0, and throws the Error where the host next waits for the device.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "reduction.hpp"

namespace tern::inline TERN_BUILD {

/// How a cross entropy is calculated.
struct CrossEntropyPlan {
  const char* op;
  Index ignore_index;
  double smoothing;
  Reduction reduction;
  bool normalised;  // x is log-probabilities already
};

}  // namespace tern
