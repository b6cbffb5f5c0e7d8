// The contract: order. A device implements, for row-major arrays without gaps,
//
//   sort<T>(device, values, positions, in, descending)
//       the first k elements of each row of `in` [rows, n] in their order, and where they stood: values, positions
//       [rows, k]
//   searchsorted<T>(device, out, sorted, values, right)
//       where each value [rows, m] belongs among a row of `sorted` [rows, n], or its only row [n]: the number of
//       elements smaller than it, of those not larger if right
//
// Equal elements keep their order, and NaN counts as larger than any number.
#pragma once
#include "../core/array.hpp"
#include "../core/config.hpp"
