// The contract: equidistant numbers. A device implements, for a row-major array,
//
//   fill_range<T>(device, start, step, out)     out[i] = start + i step, calculated in double, or T's own type where it is an integer
#pragma once
#include "cpu/range.hpp"
