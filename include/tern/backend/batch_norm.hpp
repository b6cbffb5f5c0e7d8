// The contract: normalisation of each channel over a batch. Activations are channels-last without gaps: rows of C channels, of type T.
// What belongs to channels are C contiguous elements, the parameters of type T and the statistics of compute_t<T>. There is at least one
// row, and one channel.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, T>: mean and scale = 1 / sqrt(variance + eps) of x's channels, y = (x - mean) scale weight + bias + residual, no less than 0
/// with relu, and running = (1 - momentum) running + momentum (mean, variance n / (n - 1) of n rows).
struct BatchNorm {
  const Array& y;
  const Array& mean;
  const Array& scale;
  const Array* running_mean;  // both or neither
  const Array* running_var;
  const Array& x;
  const Array& weight;
  const Array& bias;
  const Array* residual;
  double eps, momentum;
  bool relu;
};

/// run<D, T>: the same y from given statistics.
struct BatchNormInference {
  const Array& y;
  const Array& x;
  const Array& mean;
  const Array& variance;
  const Array& weight;
  const Array& bias;
  const Array* residual;
  double eps;
  bool relu;
};

/// run<D, T>: the gradients from y's gradient g, which with relu counts where y > 0. Each of the four may be null; dx may be g.
struct BatchNormGradient {
  const Array* dx;
  const Array* dweight;
  const Array* dbias;
  const Array* dresidual;
  const Array& g;
  const Array* y;             // where relu followed a residual; null: what relu cut off is worked out again from x
  const Array& x;
  const Array& mean;
  const Array& scale;
  const Array& weight;
  const Array& bias;
  bool relu;
};

}  // namespace tern::backend
