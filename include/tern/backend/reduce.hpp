// The contract: reductions. A device implements
//
//   reduce<C, R, Out, In...>(device, f, finish, out, in, shape, mask)
//       out = finish(R of f(in0[i], in1[i], …) over the dimensions in mask): inputs broadcast to shape and computed
//       with as C, R one of reduction.hpp, out dense with the other dimensions in their order. Nothing to reduce gives
//       finish(identity). Sums of float lose no more than 1e-6 of the sum of magnitudes, whatever the count. The order
//       of additions depends on shapes and strides alone.
//   arg_extreme<T>(device, largest, out, in, dim)
//       out (int64, dense) = first position of the largest or smallest element along dim, of the first NaN where there
//       is one
#pragma once
#include "cpu/arg_extreme.hpp"
#include "cpu/loops/reduce.hpp"
#include "cuda/arg_extreme.hpp"
#include "cuda/reduce.hpp"
