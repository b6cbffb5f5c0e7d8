// The contract: softmax. All arrays are dense, of one shape and type. A device implements
//
//   softmax<T>(device, log, y, x, dim)                 y = e^x / sum of e^x over dim, or its logarithm
//   softmax_gradient<T>(device, log, dx, y, g, dim)    dx from the result y and its gradient g
//
// A row with infinity, with NaN, or all of -infinity gives NaN.
#pragma once
#include "cpu/softmax.hpp"
#include "cuda/softmax.hpp"
