// The contract: normalisation of each channel over a batch. Activations are channels-last without gaps, which makes
// them rows of C channels, of type T. Arrays for the channels, parameters and statistics, are C contiguous elements of
// type compute_t<T>. There is at least one row and one channel.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: mean and scale = 1 / sqrt(variance + eps) of x's channels; y = (x - mean) scale weight + bias + residual,
/// with relu at least 0; running = (1 - momentum) running + momentum (mean, variance n / (n - 1) of n rows).
struct BatchNorm {
  const Array& y;
  const Array& mean;
  const Array& scale;
  const Array* running_mean;  // null together with running_var
  const Array* running_var;
  const Array& x;
  const Array& weight;
  const Array& bias;
  const Array* residual;
  double eps, momentum;
  bool relu;
};

/// run<D, T>: y as in BatchNorm, from given statistics.
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

/// run<D, T>: the gradients from y's gradient g. With relu, g counts only where y > 0. Each of the four gradients may
/// be null; dx may be g.
struct BatchNormGradient {
  const Array* dx;
  const Array* dweight;
  const Array* dbias;
  const Array* dresidual;
  const Array& g;
  const Array* y;  // given if relu followed a residual; null: x tells what relu set to 0
  const Array& x;
  const Array& mean;
  const Array& scale;
  const Array& weight;
  const Array& bias;
  bool relu;
};

}}}  // namespace tern::detail::backend
