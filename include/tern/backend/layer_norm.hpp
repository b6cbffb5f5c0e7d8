// The contract: layer normalisation of dense arrays seen as rows of n elements. A device implements
//
//   layer_norm<T>(device, y, mean, scale, x, weight, bias, n, eps)
//       For each row: mean, scale = 1 / sqrt(variance + eps) (both compute_t<T>), y = (x - mean) scale weight + bias.
//   layer_norm_gradient<T>(device, dx, dweight, dbias, g, mean, scale, x, weight, n)
//       The gradients from y's gradient g.
//
// weight and bias have n elements. Each of the three gradients may be null.
#pragma once
#include "../core/array.hpp"
