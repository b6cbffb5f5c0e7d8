// The contract: normalisation of each channel over a batch. Arrays of activations are channels-last without gaps: rows of C
// channels; what belongs to channels are C contiguous elements, of type T the parameters and of compute_t<T> the statistics.
// A device implements
//
//   batch_norm<T>(device, b, y, mean, scale, running_mean, running_var, x, weight, bias, residual)
//       mean, scale = 1 / sqrt(variance + eps) of x's channels, y = (x - mean) scale weight + bias + residual;
//       running = (1 - momentum) running + momentum (mean, variance n / (n - 1) of n rows)
//   batch_norm_inference<T>(device, b, y, x, mean, variance, weight, bias, residual)
//       the same y from statistics that are given
//   batch_norm_gradient<T>(device, b, dx, dweight, dbias, dresidual, g, y, x, mean, scale, weight, bias)
//       the gradients from y's gradient g
//
// With b.relu, y below 0 is 0 and g counts where y > 0. running_mean and running_var (both or neither), residual, each of the
// gradients, and y where b.relu is false may be null. dx may be g. There is at least one row, and one channel.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD {

struct BatchNorm {
  double eps = 1e-5, momentum = 0.1;
  bool relu = false;
  bool added = false;  // of a gradient: there was a residual
};

}  // namespace tern
